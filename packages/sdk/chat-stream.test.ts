import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChatChunk } from './chat.ts'
import { RideauConnectionError, RideauTimeoutError } from './errors.ts'
import { fromBackend } from './from-backend.ts'
import { RideauClient, type RideauClientOptions } from './rideau-client.ts'
import { createManualRuntime } from './testing/manual-runtime.ts'
import {
  breakAfter,
  DONE,
  openScriptedServer,
  type Reply,
  type ScriptedServer,
  sendError,
  sendStream,
  silence,
  toErrorFrame,
  toFrame,
} from './testing/scripted-server.ts'

let server: ScriptedServer
beforeEach(async () => {
  server = await openScriptedServer()
})
afterEach(() => server.close())

const CHAT = '/v1/chat'
const PARAMS = { model: 'm', messages: [{ role: 'user', content: 'hi' }] } as const
const ROLE = toFrame({ role: 'assistant', content: '' })
const HELLO = toFrame({ content: 'Hello' })
const WORLD = toFrame({ content: ' wörld' })
const END = toFrame({}, { finish_reason: 'stop' })
const WHOLE: Reply = sendStream(ROLE, HELLO, WORLD, END, DONE)

function open(options: Partial<RideauClientOptions> = {}): RideauClient {
  const tokenSource = fromBackend(async () => 'token-1')
  return new RideauClient({ gatewayUrl: server.url, tokenSource, ...options }, createManualRuntime())
}

/** Returns the texts that were delivered, and the error that ended the stream. */
async function collect(stream: AsyncIterable<ChatChunk>): Promise<{ texts: unknown[]; error?: unknown }> {
  const texts: unknown[] = []
  try {
    for await (const { choices } of stream) texts.push(choices[0]?.delta.content)
    return { texts }
  } catch (error) {
    return { texts, error }
  }
}

test('yields the chunks in order and has the id of the request', async () => {
  server.script(CHAT, WHOLE)
  const stream = open().streamChat(PARAMS)
  expect(await collect(stream)).toEqual({ texts: ['', 'Hello', ' wörld', undefined] })
  expect(stream.requestId).toBe('req-1')
  expect(server.received[0]?.json).toEqual({ ...PARAMS, stream: true })
  expect(() => stream[Symbol.asyncIterator]()).toThrow('once')
})

test('text() gives the whole text', async () => {
  server.script(CHAT, WHOLE)
  await expect(open().streamChat(PARAMS).text()).resolves.toBe('Hello wörld')
})

test('sends nothing before the first chunk is asked for', () => {
  open().streamChat(PARAMS)
  expect(server.received).toEqual([])
})

describe('before the first token', () => {
  test.each<[string, Reply]>([
    ['an error as answer', sendError(503, 'provider_unavailable')],
    ['a broken connection', breakAfter()],
    ['a stream that breaks after the role', breakAfter(ROLE)],
    ['an error event after the role', sendStream(ROLE, toErrorFrame('provider_overloaded'))],
    ['a stream without its end', sendStream(ROLE)],
  ])('%s is tried again with the same key, and nothing of it is delivered', async (_, failure) => {
    server.script(CHAT, failure, WHOLE)
    expect(await collect(open().streamChat(PARAMS))).toEqual({ texts: ['', 'Hello', ' wörld', undefined] })
    expect(server.countOf(CHAT)).toBe(2)
    expect(new Set(server.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('a silent gateway ends in a time-out', async () => {
    server.script(CHAT, silence)
    const { error } = await collect(open({ timeoutMs: 50, maxRetries: 0 }).streamChat(PARAMS))
    expect(error).toBeInstanceOf(RideauTimeoutError)
  })

  test('a stream with comments only ends in a time-out', async () => {
    server.script(CHAT, res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(': keep-alive\n\n')
    })
    const { error } = await collect(open({ timeoutMs: 50, maxRetries: 0 }).streamChat(PARAMS))
    expect(error).toBeInstanceOf(RideauTimeoutError)
  })

  test('an error event that cannot be retried is thrown with its code', async () => {
    server.script(CHAT, sendStream(ROLE, toErrorFrame('content_filtered')))
    const { texts, error } = await collect(open().streamChat(PARAMS))
    expect(texts).toEqual([])
    expect(error).toMatchObject({ code: 'content_filtered', status: 400, requestId: 'req-1' })
    expect(server.countOf(CHAT)).toBe(1)
  })
})

describe('after the first token', () => {
  test.each<[string, Reply, unknown]>([
    ['an error event', sendStream(ROLE, HELLO, toErrorFrame('stream_interrupted')), { status: 502 }],
    ['a broken connection', breakAfter(ROLE, HELLO), { name: 'RideauConnectionError' }],
    ['a stream without [DONE]', sendStream(ROLE, HELLO, END), { name: 'RideauConnectionError' }],
    ['an event that is no chunk', sendStream(HELLO, 'data: {"a":1}\n\n'), { name: 'RideauConnectionError' }],
  ])('%s is thrown and never tried again', async (_, failure, expected) => {
    server.script(CHAT, failure, WHOLE)
    const { texts, error } = await collect(open().streamChat(PARAMS))
    expect(texts).toContain('Hello')
    expect(error).toMatchObject(expected as object)
    expect(server.countOf(CHAT)).toBe(1)
  })

  test('a stream that falls silent ends in a time-out', async () => {
    server.script(CHAT, res => void (res.writeHead(200), res.write(HELLO)))
    const { texts, error } = await collect(open().streamChat(PARAMS, { idleTimeoutMs: 50 }))
    expect(texts).toEqual(['Hello'])
    expect(error).toBeInstanceOf(RideauTimeoutError)
    await server.waitFor('abandoned', 1)
  })

  test('leaving the loop closes the connection, which cancels the request', async () => {
    server.script(CHAT, res => void (res.writeHead(200), res.write(HELLO)))
    for await (const _ of open().streamChat(PARAMS)) break
    await server.waitFor('abandoned', 1)
  })

  test('cancel() ends the loop with an AbortError', async () => {
    server.script(CHAT, res => void (res.writeHead(200), res.write(HELLO)))
    const stream = open().streamChat(PARAMS)
    const ended = (async () => {
      for await (const _ of stream) stream.cancel()
    })()
    await expect(ended).rejects.toMatchObject({ name: 'AbortError' })
    await server.waitFor('abandoned', 1)
  })

  test("the caller's signal ends the loop with its reason", async () => {
    server.script(CHAT, res => void (res.writeHead(200), res.write(HELLO)))
    const controller = new AbortController()
    const ended = (async () => {
      const { signal } = controller
      for await (const _ of open().streamChat(PARAMS, { signal })) controller.abort(new Error('left'))
    })()
    await expect(ended).rejects.toThrow('left')
  })
})

test('characters that arrive in parts are put together', async () => {
  const bytes = Buffer.from(HELLO.replace('Hello', 'Héllo 漢😀') + DONE)
  server.script(CHAT, res => {
    res.writeHead(200)
    const send = (at: number): void => {
      if (at === bytes.length) res.end()
      else res.write(bytes.subarray(at, at + 1), () => setImmediate(send, at + 1))
    }
    send(0)
  })
  await expect(open().streamChat(PARAMS).text()).resolves.toBe('Héllo 漢😀')
})

describe('on platforms with less', () => {
  const respond = (wrap: (response: Response) => object): RideauClientOptions['fetch'] => {
    return async (url, init) => wrap(await fetch(url, init)) as Response
  }

  test('a body that cannot be iterated, as in Safari, is read by getReader', async () => {
    server.script(CHAT, WHOLE)
    const client = open({
      fetch: respond(({ ok, status, headers, body }) => {
        const getReader = (): unknown => (body as ReadableStream).getReader()
        return { ok, status, headers, body: { getReader } }
      }),
    })
    await expect(client.streamChat(PARAMS).text()).resolves.toBe('Hello wörld')
  })

  test('without a body to read in parts, as in React Native, all chunks come at the end', async () => {
    server.script(CHAT, WHOLE)
    const client = open({
      fetch: respond(response => {
        const { ok, status, headers } = response
        return { ok, status, headers, text: () => response.text() }
      }),
    })
    expect((await collect(client.streamChat(PARAMS))).texts).toEqual(['', 'Hello', ' wörld', undefined])
  })

  test('without a body to read in parts, a failure before the first token is tried again', async () => {
    server.script(CHAT, sendStream(toErrorFrame('provider_unavailable')), WHOLE)
    const client = open({
      fetch: respond(response => {
        const { ok, status, headers } = response
        return { ok, status, headers, text: () => response.text() }
      }),
    })
    await expect(client.streamChat(PARAMS).text()).resolves.toBe('Hello wörld')
    expect(server.countOf(CHAT)).toBe(2)
  })
})

test('an error that is not one of a connection keeps its class', async () => {
  server.script(CHAT, sendStream(HELLO))
  const { error } = await collect(open().streamChat(PARAMS))
  expect(error).toBeInstanceOf(RideauConnectionError)
  expect(error).not.toBeInstanceOf(RideauTimeoutError)
})
