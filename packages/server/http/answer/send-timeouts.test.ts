import { EventEmitter } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MIN_BYTES_PER_SECOND, openSendTimeouts, type SendTimeouts } from './send-timeouts.ts'

const MIB = 1024 * 1024

/** A caller's connection whose progress the test sets. */
class ScriptedSocket extends EventEmitter {
  writableLength = 0
  bytesWritten = 0
  destroyed = false
  _handle: { bytesWritten: number; writeQueueSize: number } | undefined = {
    bytesWritten: 0,
    writeQueueSize: 0,
  }

  /** Leaves `bytes` waiting. */
  write(bytes: number): void {
    this.writableLength += bytes
    this.bytesWritten += bytes
    if (this._handle === undefined) return
    this._handle.bytesWritten += bytes
    this._handle.writeQueueSize += bytes
  }

  /** The kernel takes a part of one write: only the handle shows it until the write is complete. */
  take(bytes: number): void {
    if (this._handle !== undefined) this._handle.writeQueueSize -= bytes
  }

  resetAndDestroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

describe('a caller', () => {
  const TIMEOUT_MS = 60_000
  let timeouts: SendTimeouts
  let socket: ScriptedSocket

  beforeEach(() => {
    vi.useFakeTimers()
    timeouts = openSendTimeouts(TIMEOUT_MS)
    const server = new EventEmitter()
    timeouts.watch(server as http.Server)
    socket = new ScriptedSocket()
    server.emit('connection', socket)
  })
  afterEach(() => {
    timeouts.close()
    vi.useRealTimers()
  })

  test('is disconnected after the timeout, and not before, if it takes nothing', () => {
    socket.write(MIB)
    vi.advanceTimersByTime(TIMEOUT_MS - 1_000)
    expect(socket.destroyed).toBe(false)
    vi.advanceTimersByTime(4_000)
    expect([socket.destroyed, timeouts.count]).toEqual([true, 1])
    vi.advanceTimersByTime(TIMEOUT_MS)
    expect(timeouts.count).toBe(1)
  })

  test('for which nothing waits stays connected', () => {
    vi.advanceTimersByTime(10 * TIMEOUT_MS)
    expect(socket.destroyed).toBe(false)
  })

  test('is disconnected if it takes a byte every 59 s', () => {
    socket.write(MIB)
    for (let at = 0; at < 2; at++) {
      vi.advanceTimersByTime(59_000)
      socket.take(1)
    }
    expect(socket.destroyed).toBe(true)
  })

  test('stays connected if it takes a large write slowly, in pieces far apart', () => {
    socket.write(30 * MIB)
    for (let at = 0; at < 10; at++) {
      vi.advanceTimersByTime(50_000)
      socket.take(50 * MIN_BYTES_PER_SECOND + 1)
    }
    expect(socket.destroyed).toBe(false)
    vi.advanceTimersByTime(TIMEOUT_MS + 3_000)
    expect(socket.destroyed).toBe(true)
  })

  test('starts anew with the next write once it has taken everything', () => {
    for (let at = 0; at < 3; at++) {
      socket.write(MIB)
      vi.advanceTimersByTime(TIMEOUT_MS - 2_000)
      socket.take(MIB)
      socket.writableLength = 0
      vi.advanceTimersByTime(2_000)
    }
    expect(socket.destroyed).toBe(false)
  })

  test('is judged by complete writes if its connection has no handle', () => {
    socket._handle = undefined
    socket.write(MIB)
    vi.advanceTimersByTime(TIMEOUT_MS - 2_000)
    socket.writableLength -= MIB / 2
    vi.advanceTimersByTime(TIMEOUT_MS - 2_000)
    expect(socket.destroyed).toBe(false)
    vi.advanceTimersByTime(4_000)
    expect(socket.destroyed).toBe(true)
  })
})

test('disconnects a real caller that does not read a long answer, and serves the others', async () => {
  const timeouts = openSendTimeouts(300)
  const body = Buffer.alloc(30 * MIB, 'x')
  let closed = (): void => {}
  const isClosed = new Promise<void>(resolve => {
    closed = resolve
  })
  const server = http.createServer((req, res) => {
    if (req.url === '/unread') res.once('close', closed)
    res.end(body)
  })
  timeouts.watch(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /unread HTTP/1.1\r\nHost: localhost\r\n\r\n')
  socket.pause()
  await isClosed
  expect(timeouts.count).toBe(1)
  const read = await fetch(`http://127.0.0.1:${port}/read`)
  expect((await read.arrayBuffer()).byteLength).toBe(body.length)
  socket.destroy()
  timeouts.close()
  await new Promise(resolve => {
    server.close(resolve)
    server.closeAllConnections()
  })
})
