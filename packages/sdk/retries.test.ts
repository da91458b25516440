import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RideauConnectionError, RideauTimeoutError } from './errors.ts'
import { fromBackend } from './from-backend.ts'
import { RideauClient, type RideauClientOptions } from './rideau-client.ts'
import { createManualRuntime, type ManualRuntime } from './testing/manual-runtime.ts'
import {
  breakAfter,
  openScriptedServer,
  type Reply,
  type ScriptedServer,
  sendError,
  sendJson,
  silence,
} from './testing/scripted-server.ts'

let server: ScriptedServer
let runtime: ManualRuntime
beforeEach(async () => {
  server = await openScriptedServer()
  runtime = createManualRuntime()
})
afterEach(() => server.close())

const CHAT = '/v1/chat'
const PARAMS = { model: 'm', messages: [{ role: 'user', content: 'hi' }] } as const
const OK: Reply = sendJson(200, { id: 'answer' })

function open(options: Partial<RideauClientOptions> = {}): RideauClient {
  const tokenSource = fromBackend(async () => ({ token: 'token-1', expires_in: 900 }))
  return new RideauClient({ gatewayUrl: server.url, tokenSource, ...options }, runtime)
}

describe('tries again', () => {
  test.each([408, 429, 500, 502, 503, 504, 529])('after a %d', async status => {
    server.script(CHAT, sendError(status, 'some_code'), OK)
    await expect(open().chat(PARAMS)).resolves.toEqual({ id: 'answer' })
    expect(server.countOf(CHAT)).toBe(2)
  })

  test('after a broken connection, and after one that breaks inside the answer', async () => {
    const half: Reply = res => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('{"id":', () => setImmediate(() => res.destroy()))
    }
    server.script(CHAT, breakAfter(), half, OK)
    await expect(open().chat(PARAMS)).resolves.toEqual({ id: 'answer' })
    expect(server.countOf(CHAT)).toBe(3)
  })

  test('after a time-out, and closes the connection of the slow attempt', async () => {
    server.script(CHAT, silence, OK)
    await expect(open({ timeoutMs: 100 }).chat(PARAMS)).resolves.toEqual({ id: 'answer' })
    await server.waitFor('abandoned', 1)
    expect(server.countOf(CHAT)).toBe(2)
  })

  test('with one Idempotency-Key for all attempts of a call, and another one for the next call', async () => {
    server.script(CHAT, breakAfter(), sendError(503, 'provider_unavailable'), OK)
    const client = open()
    await client.chat(PARAMS)
    await client.chat(PARAMS)
    const keys = server.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(4)
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/)
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1)
  })

  test('twice at most unless told otherwise', async () => {
    server.script(CHAT, sendError(503, 'provider_overloaded'))
    await expect(open().chat(PARAMS)).rejects.toMatchObject({ code: 'provider_overloaded', status: 503 })
    expect(server.countOf(CHAT)).toBe(3)
    await expect(open({ maxRetries: 0 }).chat(PARAMS)).rejects.toMatchObject({ status: 503 })
    expect(server.countOf(CHAT)).toBe(4)
    await expect(open().chat(PARAMS, { maxRetries: 4 })).rejects.toMatchObject({ status: 503 })
    expect(server.countOf(CHAT)).toBe(9)
  })
})

describe('does not try again', () => {
  test.each([
    [400, 'invalid_request'],
    [401, 'key_revoked'],
    [402, 'budget_exceeded'],
    [403, 'end_user_blocked'],
    [404, 'model_not_found'],
    [409, 'idempotency_conflict'],
    [413, 'request_too_large'],
    [502, 'provider_auth_failed'],
  ])('after a %d %s', async (status, code) => {
    server.script(CHAT, sendError(status, code))
    await expect(open().chat(PARAMS)).rejects.toMatchObject({ code, status })
    expect(server.countOf(CHAT)).toBe(1)
    expect(runtime.waits).toEqual([])
  })

  test.each([408, 429, 500, 503])('a %d with x-should-retry: false', async status => {
    server.script(CHAT, sendError(status, 'some_code', { 'x-should-retry': 'false', 'retry-after': '1' }))
    await expect(open().chat(PARAMS)).rejects.toMatchObject({ status, isFinal: true, retryAfterMs: 1_000 })
    expect(server.countOf(CHAT)).toBe(1)
  })

  // Browsers cannot read x-should-retry unless it is exposed to them.
  test('what asks for more than a minute of patience', async () => {
    server.script(CHAT, sendError(429, 'quota_exceeded', { 'retry-after': '61' }))
    await expect(open().chat(PARAMS)).rejects.toMatchObject({ retryAfterMs: 61_000 })
    expect(server.countOf(CHAT)).toBe(1)
  })

  test('a call whose onResponse throws', async () => {
    server.script(CHAT, OK)
    const onResponse = (): void => {
      throw new Error('mine')
    }
    await expect(open().chat(PARAMS, { onResponse })).rejects.toMatchObject({
      name: 'RideauError',
      cause: { message: 'mine' },
    })
    expect(server.countOf(CHAT)).toBe(1)
  })
})

describe('waits', () => {
  test('longer before each retry, with jitter', async () => {
    server.script(CHAT, sendError(503, 'provider_unavailable'))
    for (const random of [0, 0.999]) {
      runtime = createManualRuntime(random)
      await expect(open({ maxRetries: 6 }).chat(PARAMS)).rejects.toMatchObject({ status: 503 })
      const factor = 0.5 + random / 2
      expect(runtime.waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000].map(ms => ms * factor))
    }
  })

  test('as long as Retry-After says in seconds or as a date, never less', async () => {
    const date = 'Thu, 01 Jan 2026 12:00:00 GMT'
    const later = 'Thu, 01 Jan 2026 12:00:20 GMT'
    server.script(
      CHAT,
      sendError(429, 'rate_limit_exceeded', { 'retry-after': '60' }),
      sendError(503, 'provider_overloaded', { date, 'retry-after': later }),
      OK,
    )
    await open().chat(PARAMS)
    expect(runtime.waits).toEqual([60_125, 20_125])
  })

  test('not at all once the signal aborts', async () => {
    const controller = new AbortController()
    server.script(CHAT, sendError(503, 'provider_unavailable'))
    const stop = (): void => controller.abort(new Error('left'))
    const call = open().chat(PARAMS, { signal: controller.signal, onResponse: stop })
    await expect(call).rejects.toThrow('left')
    expect(server.countOf(CHAT)).toBe(1)
  })
})

describe('rejects', () => {
  test('with the reason of the signal, and closes the connection', async () => {
    const controller = new AbortController()
    server.script(CHAT, silence)
    const call = open().chat(PARAMS, { signal: controller.signal })
    await server.waitFor('received', 1)
    controller.abort(new Error('the user left'))
    await expect(call).rejects.toThrow('the user left')
    await server.waitFor('abandoned', 1)
    expect(server.countOf(CHAT)).toBe(1)
  })

  test('before it sends anything where the signal has aborted already', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(open().chat(PARAMS, { signal })).rejects.toThrow('too late')
    expect(server.received).toEqual([])
  })

  test('with a RideauTimeoutError after the last slow attempt', async () => {
    server.script(CHAT, silence)
    const call = open().chat(PARAMS, { timeoutMs: 50, maxRetries: 1 })
    await expect(call).rejects.toBeInstanceOf(RideauTimeoutError)
    expect(server.countOf(CHAT)).toBe(2)
  })

  test('with a RideauConnectionError where no server listens or the answer is no JSON', async () => {
    server.script(CHAT, res => res.end('<html>'))
    await expect(open({ maxRetries: 0 }).chat(PARAMS)).rejects.toBeInstanceOf(RideauConnectionError)
    const client = open({ gatewayUrl: 'http://127.0.0.1:1' })
    await expect(client.chat(PARAMS)).rejects.toBeInstanceOf(RideauConnectionError)
    expect(runtime.waits).toHaveLength(2)
  })
})
