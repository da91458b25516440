import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { hasGivenUp } from '../connection/given-up.ts'
import { RequestLines } from '../head/request-lines.ts'
import { boundFraming } from './bound-framing.ts'
import { ReceivedRequest, wantBody } from './received-request.ts'

const KiB = 1024
/** Far more than may be read. The kernel takes some megabytes of it. */
const ENDLESS = 64 * KiB * KiB
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

let serve: (req: IncomingMessage, res: ServerResponse) => void
let codes: string[]
const lines = new RequestLines((req, res) => serve(req, res))
const server = http.createServer({ IncomingMessage: ReceivedRequest }, (req, res) => lines.add(req, res))
boundFraming(server, lines)
server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
  codes.push(error.code ?? '')
  socket.end('broken')
})
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  codes = []
  serve = (req, res) => {
    wantBody(req)
    let bytes = 0
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    req.on('end', () => res.end(`[${bytes}]`))
  }
})

async function open() {
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => void raw.socket.destroy())
  return raw
}

/** Writes `unit` over and over until the connection closes. Returns what the kernel took of it. */
async function flood(socket: Socket, unit: string): Promise<number> {
  const block = Buffer.from(unit.repeat(Math.ceil((64 * KiB) / unit.length)))
  const closed = new Promise(resolve => socket.once('close', resolve))
  let left = ENDLESS
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= block.length
      if (!socket.write(block)) return
    }
  }
  socket.on('drain', write)
  write()
  await closed
  return socket.bytesWritten - socket.writableLength
}

test.each([
  ['line ends before a request', '', '\r\n'],
  ['spaces in a head', `${GET}a:`, ' '],
  ['zeros before the size of a chunk', POST, '0'],
  ['chunk extensions', POST, `1;${'e'.repeat(16_000)}\r\nx\r\n`],
  ['spaces in a trailer', `${POST}0\r\na:`, ' '],
  ['line ends behind an answered request', `${GET}\r\n`, '\r\n'],
])('closes a connection that brings %s without end', async (_, start, unit) => {
  const { socket } = await open()
  socket.write(start)
  expect(await flood(socket, unit)).toBeLessThan(ENDLESS / 2)
  expect(codes).toEqual(['RIDEAU_FRAMING'])
})

test.each([
  ['line ends without end', '\r\n', 'RIDEAU_FRAMING'],
  ['what is no request', 'broken\r\n\r\n', 'HPE_INVALID_METHOD'],
  ['a broken body', `${POST}x\r\n`, 'HPE_INVALID_CHUNK_SIZE'],
])(
  'does not read on %s behind a request whose answer goes on, and closes the connection behind it',
  async (_, unit, code) => {
    serve = async ({ socket }, res) => {
      res.write('begins')
      await expect.poll(() => hasGivenUp(socket)).toBe(true)
      // Longer than other connections stay open.
      await sleep(1_500)
      res.end('ends')
    }
    const raw = await open()
    raw.socket.write(`${GET}\r\n`)
    await raw.until('begins')
    expect(await flood(raw.socket, unit)).toBeLessThan(ENDLESS / 2)
    expect(raw.text()).toContain('ends')
    expect(codes).toEqual([code])
  },
)

test('a body of very many short chunks that nobody has asked for is answered as too large', async () => {
  const { socket } = await open()
  serve = () => {}
  socket.write(POST)
  expect(await flood(socket, '1\r\nx\r\n')).toBeLessThan(ENDLESS / 2)
  expect(codes).toEqual(['RIDEAU_FRAMING'])
})

test.each([
  ['of a KiB', 32 * KiB, KiB],
  ['of two bytes', 100_000, 2],
  ['of one byte', 100_000, 1],
])('reads a body in many chunks %s to its end', async (_, count, length) => {
  const raw = await open()
  const chunk = `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`
  raw.socket.write(`${POST}${chunk.repeat(count)}0\r\n\r\n`)
  await raw.until(`[${count * length}]`)
  // And what follows it.
  raw.socket.write(`${GET}\r\n`)
  await raw.until('[0]')
  expect(codes).toEqual([])
})

test.each([
  ['one after the other', 1],
  ['pipelined', 8],
])('reads any number of requests with long heads on one connection, %s', async (_, together) => {
  const raw = await open()
  const request = `${GET}A: ${'a'.repeat(12 * KiB)}\r\n\r\n`
  let answered = 0
  serve = (_req, res) => void res.end(`[${++answered}]`)
  for (let sent = together; sent <= 64; sent += together) {
    raw.socket.write(request.repeat(together))
    await raw.until(`[${sent}]`)
  }
  expect(codes).toEqual([])
})

test('serves nothing that follows a body that was given up, since it may lack bytes', async () => {
  const served: string[] = []
  serve = ({ url = '' }) => void served.push(url)
  const { socket } = await open()
  const next = 'POST /next HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody'
  socket.write(`${POST}${'1\r\nx\r\n'.repeat(2_000)}0\r\n\r\n${next}`)
  await new Promise(resolve => socket.once('close', resolve))
  expect([served, codes]).toEqual([['/'], ['RIDEAU_FRAMING']])
})
