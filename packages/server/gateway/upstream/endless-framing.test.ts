import net, { type AddressInfo, type Socket } from 'node:net'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { loopTurns, SLICE_MS } from '../../http/fairness/loop-turns.ts'
import { toTextHandler } from '../../testing/harness/text-handler.ts'
import { openHttpTransport } from './http-transport.ts'
import type { Transport } from './transport.ts'

const NOBODY: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
const KiB = 1024
/** Far more than may be read. The kernel takes some megabytes of it. */
const ENDLESS = 64 * KiB * KiB
const BODY = '{}'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** A provider that answers each request with `answer`, which may write to the connection at any later time. */
async function listen(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', bytes => {
      if (String(bytes).endsWith(BODY)) answer(socket)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function openTransport(): Transport {
  const transport = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), { maxConnections: 8 })
  onTestFinished(() => transport.close())
  return transport
}

/** Returns the text of an answer, or how it failed. */
function call(transport: Transport, origin: string): Promise<string | UpstreamError> {
  return new Promise(resolve => {
    transport.call(
      { origin, path: '/', headers: {}, body: Buffer.from(BODY) },
      toTextHandler(resolve, true),
      NOBODY,
    )
  })
}

/** Writes `start`, and then `unit` over and over while the connection is open. Returns what the kernel took. */
function flood(socket: Socket, start: string, unit: string): () => number {
  const block = Buffer.from(unit.repeat(Math.ceil((64 * KiB) / unit.length)))
  let left = ENDLESS
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= block.length
      if (!socket.write(block)) return
    }
  }
  socket.write(start)
  socket.on('drain', write)
  write()
  return () => socket.bytesWritten - socket.writableLength
}

test.each([
  ['chunk extensions', `${CHUNKED}`, `1;${'e'.repeat(60_000)}\r\nx\r\n`],
  ['one chunk extension', `${CHUNKED}1;`, 'e'],
  ['chunks of one byte', CHUNKED, '1\r\nx\r\n'],
  ['zeros before the size of a chunk', CHUNKED, '0'],
  ['spaces in a trailer', `${CHUNKED}0\r\na:`, ' '],
  ['trailers', `${CHUNKED}0\r\n`, 'a: b\r\n'],
  ['spaces in its head', 'HTTP/1.1 200 OK\r\na:', ' '],
  ['line ends before its head', '', '\r\n'],
])('fails a call whose provider sends %s without end', async (_, start, unit) => {
  let taken = () => 0
  const origin = await listen(socket => {
    taken = flood(socket, start, unit)
  })
  expect(await call(openTransport(), origin)).toMatchObject({ kind: 'unavailable' })
  expect(taken()).toBeLessThan(ENDLESS / 2)
})

test('closes an unused connection on which a provider sends line ends without end', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  const origin = await listen(socket => {
    closed = new Promise(resolve => socket.once('close', resolve))
    flood(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', '\r\n')
  })
  expect(await call(openTransport(), origin)).toBe('hi')
  await closed
})

test('reads a long answer in chunks of two bytes to its end', async () => {
  const text = 'ab'.repeat(200_000)
  const origin = await listen(socket => {
    socket.write(`${CHUNKED}${'2\r\nab\r\n'.repeat(200_000)}0\r\n\r\n`)
  })
  expect(await call(openTransport(), origin)).toBe(text)
})

test('reads any number of short answers with long heads on one connection', async () => {
  const connections = new Set<Socket>()
  const head = `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(8 * KiB)}\r\nContent-Length: 2\r\n\r\nhi`
  const origin = await listen(socket => {
    connections.add(socket)
    socket.write(head)
  })
  const transport = openTransport()
  for (let calls = 0; calls < 40; calls++) expect(await call(transport, origin)).toBe('hi')
  expect(connections.size).toBe(1)
})

test('no more than 32 short chunks of a read are taken together, and they wait for a turn', async () => {
  const origin = await listen(socket => {
    socket.write(`${CHUNKED}${'2\r\nab\r\n'.repeat(4_000)}0\r\n\r\n`)
  })
  const wait = vi.spyOn(loopTurns, 'wait')
  const chunks: string[] = []
  try {
    await new Promise<void>(resolve => {
      const handler = {
        isStream: true as const,
        onStart: () => loopTurns.spend(SLICE_MS, NOBODY),
        onData: (chunk: Buffer) => void chunks.push(chunk.toString()),
        onEnd: resolve,
        onFail: ({ detail }: UpstreamError) => expect.unreachable(detail),
        onCrash: (error: unknown) => expect.unreachable(String(error)),
      }
      openTransport().call({ origin, path: '/', headers: {}, body: Buffer.from(BODY) }, handler, NOBODY)
    })
    expect(wait).toHaveBeenCalled()
  } finally {
    wait.mockRestore()
  }
  expect(chunks.join('')).toBe('ab'.repeat(4_000))
  expect(chunks[1]).toBe('ab'.repeat(32))
})
