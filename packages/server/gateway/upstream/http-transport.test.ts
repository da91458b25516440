import type { ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { afterEach, expect, test, vi } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { loopTurns, SLICE_MS, type TurnTaker } from '../../http/fairness/loop-turns.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { toTextHandler } from '../../testing/harness/text-handler.ts'
import { openHttpTransport } from './http-transport.ts'
import type { Transport, UpstreamCall } from './transport.ts'

/** More calls than one caller may make at a time. */
const MANY = 600
/** The gateway's connections. One caller gets 540 of these to one origin. */
const MAX_CONNECTIONS = 4096
const NOBODY: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }

const open: { transport?: Transport; upstream?: ScriptedUpstream } = {}
afterEach(async () => {
  await open.transport?.close()
  await open.upstream?.close()
})

function openTransport(): Transport {
  open.transport = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), {
    maxConnections: MAX_CONNECTIONS,
  })
  return open.transport
}

async function listen(onRequest: (res: ServerResponse) => void): Promise<string> {
  open.upstream = await openScriptedUpstream()
  open.upstream.script(onRequest)
  return open.upstream.origin
}

interface Ended {
  readonly call: UpstreamCall
  readonly result: Promise<string | UpstreamError>
}

function call(transport: Transport, origin: string, owner = NOBODY, isStream = false): Ended {
  let resolve: (result: string | UpstreamError) => void = () => {}
  const result = new Promise<string | UpstreamError>(resolved => {
    resolve = resolved
  })
  const request = { origin, path: '/', headers: {}, body: Buffer.from('{}') }
  return { call: transport.call(request, toTextHandler(resolve, isStream), owner), result }
}

test('fails every call if no server listens, including waiting and later ones', async () => {
  const origin = await listen(res => res.end())
  await open.upstream?.close()
  const transport = openTransport()
  const results = await Promise.all(Array.from({ length: MANY }, () => call(transport, origin).result))
  expect(new Set(results.map(each => (typeof each === 'string' ? each : each.kind)))).toEqual(
    new Set(['unavailable']),
  )
  expect(await call(transport, origin).result).toMatchObject({ kind: 'unavailable' })
})

test('answers calls above the limit as connections become free, except an aborted one', async () => {
  const pending: ServerResponse[] = []
  const origin = await listen(res => pending.push(res))
  const transport = openTransport()
  const calls = Array.from({ length: MANY }, () => call(transport, origin))
  while (pending.length < 512) await new Promise(resolve => setTimeout(resolve, 5))
  calls.at(-1)?.call.abort()
  expect(calls.at(-1)?.call.sentAt).toBe(undefined)
  const answering = setInterval(() => {
    for (const res of pending.splice(0)) res.end('answered')
  }, 5)
  const results = await Promise.all(calls.slice(0, -1).map(({ result }) => result))
  clearInterval(answering)
  expect(new Set(results)).toEqual(new Set(['answered']))
  expect(pending).toEqual([])
})

test('sends nothing of calls that are aborted while their connections open', async () => {
  let received = 0
  const origin = await listen(res => {
    received++
    res.end('answered')
  })
  const transport = openTransport()
  const calls = Array.from({ length: 200 }, () => call(transport, origin))
  for (const { call: made } of calls) made.abort()
  expect(await call(transport, origin).result).toBe('answered')
  expect(received).toBe(1)
  expect(calls.every(({ call: made }) => made.sentAt === undefined)).toBe(true)
})

test('answers a call after the connection of the previous one broke', async () => {
  let isBroken = true
  const origin = await listen(res => {
    if (isBroken) res.destroy()
    else res.end('answered')
  })
  const transport = openTransport()
  expect(await call(transport, origin).result).toMatchObject({ kind: 'unavailable' })
  isBroken = false
  expect(await call(transport, origin).result).toBe('answered')
})

test('ends running calls on close(), and opens no connection afterwards', async () => {
  const origin = await listen(() => {})
  const transport = openTransport()
  const { result, call: made } = call(transport, origin)
  while (made.sentAt === undefined) await new Promise(resolve => setTimeout(resolve, 5))
  await transport.close()
  expect(await result).toMatchObject({ kind: 'unavailable' })
  expect(await call(transport, origin).result).toMatchObject({ kind: 'unavailable' })
  const unseen = origin.replace('127.0.0.1', 'localhost')
  expect(await call(transport, unseen).result).toMatchObject({ detail: 'Error: the transport is closed' })
})

test.each([
  ['closes', (socket: net.Socket) => void socket.end()],
  ['resets', (socket: net.Socket) => void socket.resetAndDestroy()],
])('a provider that %s the connection while its answer is paused affects no other call', async (how, end) => {
  const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n'
  for (const answer of [`${head}\r\nhello`, `${head}Content-Length: 9\r\n\r\nhello`]) {
    const server = net.createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write(answer)
        setTimeout(() => end(socket), 50)
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const transport = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), {
      maxConnections: MAX_CONNECTIONS,
    })
    const chunks: string[] = []
    const result = await new Promise<string | UpstreamError>(resolve => {
      const made = transport.call(
        { origin, path: '/', headers: {}, body: Buffer.from('{}') },
        {
          onStart: () => {},
          onData: chunk => {
            chunks.push(chunk.toString())
            made.pause()
          },
          onEnd: () => resolve('ended'),
          onFail: resolve,
          onCrash: error => expect.unreachable(String(error)),
        },
        NOBODY,
      )
    })
    expect(chunks.join('')).toBe('hello')
    // Without a Content-Length the end of the connection is the end of the answer.
    if (how === 'closes' && !answer.includes('Content-Length')) expect(result).toBe('ended')
    else expect(result).toMatchObject({ kind: 'unavailable' })
    await transport.close()
    server.close()
  }
})

test.each([
  ['as they come', false],
  ['with a pause at each', true],
])('the chunks of one read are processed together and in order, %s', async (_, pauses) => {
  const sent = Array.from({ length: 3_000 }, (_, i) => `event ${i}\n`)
  const origin = await listen(res => {
    res.writeHead(200)
    // Corked, so that the chunks arrive with as few reads as there can be.
    res.cork()
    for (const each of sent) res.write(each)
    res.uncork()
    res.end('end')
  })
  const chunks: string[] = []
  await new Promise<void>((resolve, reject) => {
    const made = openTransport().call(
      { origin, path: '/', headers: {}, body: Buffer.from('{}') },
      {
        onStart: () => {},
        onData: chunk => {
          chunks.push(chunk.toString())
          if (!pauses) return
          made.pause()
          setImmediate(() => made.resume())
        },
        onEnd: resolve,
        onFail: error => reject(new Error(error.detail)),
        onCrash: reject,
      },
      NOBODY,
    )
  })
  expect(chunks.join('')).toBe(`${sent.join('')}end`)
  if (!pauses) expect(chunks.length).toBeLessThan(sent.length / 10)
})

test('one turn takes all that came with the chunk that waited for it', async () => {
  const sent = Array.from({ length: 4 }, () => 'x'.repeat(12 * 1024))
  const origin = await listen(res => {
    res.writeHead(200)
    res.cork()
    for (const each of sent) res.write(each)
    res.uncork()
    res.end()
  })
  let isBusy = true
  const other: TurnTaker = {
    owner: NOBODY,
    origin: 'other',
    takeTurn() {
      if (isBusy) loopTurns.wait(other)
      return false
    },
  }
  const wait = vi.spyOn(loopTurns, 'wait')
  const transport = openTransport()
  const waits: number[] = []
  try {
    loopTurns.wait(other)
    // A turn that ends with its slice leaves the rest to another, which a busy machine makes frequent.
    for (let round = 0; round < 20; round++) {
      wait.mockClear()
      let text = ''
      await new Promise<void>((resolve, reject) => {
        const handler = {
          onStart: () => loopTurns.spend(SLICE_MS, NOBODY),
          onData: (chunk: Buffer) => {
            text += chunk.toString()
          },
          onEnd: resolve,
          onFail: (error: UpstreamError) => reject(new Error(error.detail)),
          onCrash: reject,
        }
        transport.call({ origin, path: '/', headers: {}, body: Buffer.from('{}') }, handler, NOBODY)
      })
      expect(text).toBe(sent.join(''))
      waits.push(wait.mock.calls.filter(([taker]) => taker !== other).length)
    }
  } finally {
    isBusy = false
    wait.mockRestore()
  }
  expect(Math.min(...waits)).toBe(1)
})

test('one-byte chunks behind long chunk extensions do not keep the reads that they came in', async () => {
  const extended = `1;e=${'e'.repeat(1_000)}\r\nx\r\n`
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${extended.repeat(50)}0\r\n\r\n`)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const chunks: Buffer[] = []
  await new Promise<void>(resolve => {
    const handler = {
      onStart: () => {},
      onData: (chunk: Buffer) => void chunks.push(chunk),
      onEnd: resolve,
      onFail: (error: UpstreamError) => expect.unreachable(String(error.detail)),
      onCrash: (error: unknown) => expect.unreachable(String(error)),
    }
    const request = { origin, path: '/', headers: {}, body: Buffer.from('{}') }
    openTransport().call(request, handler, NOBODY)
  })
  server.close()
  expect(Buffer.concat(chunks).toString()).toBe('x'.repeat(50))
  for (const chunk of chunks) expect(chunk.buffer.byteLength).toBeLessThanOrEqual(Buffer.poolSize)
})

test('long chunks of streams of one caller wait once they bring more than 16 MiB in a second, not those of another', async () => {
  const MIB = 1024 * 1024
  const ownerOf = (keyId: string): ShareOwner => ({ ...NOBODY, caller: { keyId } })
  let bytes = 40 * MIB
  const origin = await listen(res => res.end(Buffer.alloc(bytes, 'x')))
  const transport = openTransport()
  const log: string[] = []
  const logged = async (name: string, { result }: Ended): Promise<void> => {
    const text = await result
    log.push(`${name} ${typeof text === 'string' ? text.length / MIB : text.kind}`)
  }
  const large = logged('large', call(transport, origin, ownerOf('a'), true))
  await new Promise(resolve => setTimeout(resolve, 200))
  bytes = MIB
  await logged('other', call(transport, origin, ownerOf('b'), true))
  await logged('whole', call(transport, origin, ownerOf('a'), false))
  await large
  expect(log).toEqual(['other 1', 'whole 1', 'large 40'])
})
