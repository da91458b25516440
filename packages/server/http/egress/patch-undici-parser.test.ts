import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { patchUndiciParser } from './patch-undici-parser.ts'

const CHUNK = Buffer.alloc(16 * 1024, 'x')
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server that sends `chunks` chunks, by default without an end, as fast as they are read. */
async function openFlood(chunks = Number.POSITIVE_INFINITY, connection = 'keep-alive'): Promise<string> {
  const server = http.createServer((_, res) => {
    res.setHeader('connection', connection)
    let left = chunks
    const write = (): void => {
      while (left > 0 && !res.destroyed) {
        left--
        if (!res.write(CHUNK)) return
      }
      if (left === 0) res.end()
    }
    res.on('drain', write).on('error', () => {})
    write()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Takes one chunk in a tick and pauses after it. Resolves with the bytes, and the most that waited in the socket. */
function readSlowly(origin: string, most: number): Promise<{ bytes: number; waiting: number }> {
  const connect = buildConnector({})
  let socket: Socket | undefined
  const client = new Client(origin, {
    connect: (options, callback) =>
      connect(options, (...[error, opened]) => {
        if (error !== null) return callback(error, null)
        callback(null, opened)
        socket = opened
        patchUndiciParser(opened)
      }),
  })
  closers.push(() => client.destroy())
  return new Promise((resolve, reject) => {
    let [bytes, waiting] = [0, 0]
    let goOn: () => void = () => {}
    const handler: Dispatcher.DispatchHandler = {
      onConnect: () => {},
      onHeaders: (_status, _headers, resume) => {
        goOn = resume
        return true
      },
      onData: chunk => {
        bytes += chunk.length
        if (bytes >= most) resolve({ bytes, waiting })
        // After a tick in which the socket may read.
        setImmediate(() => {
          waiting = Math.max(waiting, (socket as Socket).readableLength)
          setImmediate(goOn)
        })
        return false
      },
      onComplete: () => resolve({ bytes, waiting }),
      onError: reject,
    }
    client.dispatch({ method: 'GET', path: '/' }, handler)
  })
}

test('what waits for a slow reader does not grow while the sender is faster', async () => {
  const { waiting } = await readSlowly(await openFlood(), 400 * CHUNK.length)
  expect(waiting).toBeLessThan(512 * 1024)
})

test.each(['keep-alive', 'close'])('a slow reader gets every byte (connection: %s)', async connection => {
  const { bytes } = await readSlowly(await openFlood(300, connection), Number.POSITIVE_INFINITY)
  expect(bytes).toBe(300 * CHUNK.length)
})
