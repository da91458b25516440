import http, { type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { afterEach, expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { toTextHandler } from '../../testing/harness/text-handler.ts'
import { openHttpTransport } from './http-transport.ts'
import { type ReadOnce, toReadOnce } from './read-once.ts'
import type { Transport, UpstreamCall } from './transport.ts'

/** Long bodies of streamed calls, which undici gets as an iterable. */

const NOBODY: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
const LONG = Buffer.from(`{"text":"${'ü'.repeat(4_000_000)}"}`)
const SHORT = Buffer.from('{}')

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function openTransport(maxConnections = 8): Transport {
  const transport = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), { maxConnections })
  closing.push(() => transport.close())
  return transport
}

async function listen(server: net.Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket))
  closing.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function stream(transport: Transport, origin: string, body: Buffer) {
  let made: UpstreamCall | undefined
  const result = new Promise<string | UpstreamError>(resolve => {
    made = transport.call(
      { origin, path: '/', headers: { 'x-a': 'b' }, body },
      toTextHandler(resolve, true),
      NOBODY,
    )
  })
  return { call: made as UpstreamCall, result }
}

test('are sent whole, with their length, over one connection one after the other', async () => {
  const ports = new Set<number | undefined>()
  const origin = await listen(
    http.createServer((req, res) => {
      ports.add(req.socket.remotePort)
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        const isWhole = Buffer.concat(chunks).equals(LONG)
        const { 'content-length': length, 'transfer-encoding': coding, 'x-a': own } = req.headers
        res.end(JSON.stringify({ isWhole, length, coding, own }))
      })
    }),
  )
  const transport = openTransport()
  const whole = JSON.stringify({ isWhole: true, length: String(LONG.length), own: 'b' })
  for (let left = 3; left > 0; left--) expect(await stream(transport, origin, LONG).result).toBe(whole)
  expect(ports.size).toBe(1)
})

test('an answer that comes before all of one was read is passed on, and later calls are answered', async () => {
  const answer = (res: ServerResponse) => res.writeHead(413).end('too long')
  // Reads none of the body.
  const origin = await listen(http.createServer((_, res) => answer(res)))
  const transport = openTransport()
  for (const body of [LONG, SHORT, LONG, SHORT]) {
    expect(await stream(transport, origin, body).result).toBe('too long')
  }
})

test.each([
  ['aborted', (call: UpstreamCall) => call.abort()],
  ['aborted in a later tick', (call: UpstreamCall) => void setTimeout(() => call.abort(), 20)],
])('one whose call is %s ends its connection only', async (_, end) => {
  let closed = 0
  const origin = await listen(
    http.createServer((req, res) => {
      if (req.headers['content-length'] === String(SHORT.length)) return void res.end('answered')
      req.socket.once('close', () => closed++)
      // Reads the rest after the call was ended. A socket that is not read notices nothing.
      req.once('data', () => {
        req.pause()
        setTimeout(() => req.resume(), 60)
      })
      req.on('error', () => {})
    }),
  )
  const transport = openTransport()
  const { call, result } = stream(transport, origin, LONG)
  while (call.sentAt === undefined) await new Promise(resolve => setTimeout(resolve, 5))
  end(call)
  await expect.poll(() => closed).toBe(1)
  expect(await stream(transport, origin, SHORT).result).toBe('answered')
  expect(await Promise.race([result, 'without an event'])).toBe('without an event')
})

test.each([
  ['closes', (socket: net.Socket) => socket.end()],
  ['resets', (socket: net.Socket) => socket.resetAndDestroy()],
])('a provider that %s the connection within one fails that call alone', async (_, end) => {
  const origin = await listen(
    net.createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', head => {
        if (head.includes(`content-length: ${SHORT.length}\r\n`))
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nanswered')
        else end(socket)
      })
    }),
  )
  const transport = openTransport()
  expect(await stream(transport, origin, LONG).result).toMatchObject({ kind: 'unavailable' })
  expect(await stream(transport, origin, SHORT).result).toBe('answered')
})

test('an iterable yields its bytes once, and a short body stays as it is', () => {
  const { body, headers } = toReadOnce({ origin: 'http://x', path: '/', headers: {}, body: LONG })
  expect(headers).toEqual({ 'content-length': String(LONG.length) })
  const iterable = body as ReadOnce
  const iterator = iterable[Symbol.iterator]()
  // Compared by identity: a comparison of the contents takes half a minute.
  expect(iterator.next().value === LONG).toBe(true)
  expect(iterable.isRead).toBe(false)
  expect(iterator.next().done).toBe(true)
  expect(iterable.isRead).toBe(true)
  expect([...iterable]).toEqual([])
  expect(toReadOnce({ origin: 'http://x', path: '/', headers: {}, body: SHORT }).body).toBe(SHORT)
})
