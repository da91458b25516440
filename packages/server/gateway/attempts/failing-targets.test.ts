import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MIN_CALLS } from '../../core/attempts/circuit.ts'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'
import { type CircuitChange, Circuits } from './circuits.ts'

let app: TestApp
let deps: GatewayDeps
let first: ScriptedUpstream
let second: ScriptedUpstream
/** The clock of the circuits. */
let now = Date.now()
let changes: CircuitChange['transition'][] = []
beforeAll(async () => {
  app = await openTestApp({}, { ...TEST_OVERRIDES, onDeps: made => void (deps = made) })
  first = await openScriptedUpstream()
  second = await openScriptedUpstream()
  await app.addCredential('custom-a', { api_key: 'sk-a', base_url: first.baseUrl })
  await app.addCredential('custom-b', { api_key: 'sk-b', base_url: second.baseUrl })
  for (const n of [1, 2, 3])
    await app.addCredential('custom-many', { name: `${n}`, api_key: `sk-${n}`, base_url: first.baseUrl })
})
afterAll(async () => {
  await first.close()
  await second.close()
  await app.close()
})
beforeEach(() => {
  changes = []
  const onChange = ({ transition }: CircuitChange): void => void changes.push(transition)
  replaceProperty(deps, 'circuits', () => new Circuits({ now: () => now, onChange }))
  first.script(completion('first'))
  second.script(completion('second'))
})

const messages = [{ role: 'user', content: 'Say hello.' }]
const A = 'custom-a/m'
const B = 'custom-b/m'
const FAILED = json(500, {})
const UNREACHABLE = json(503, {})

let made = 0
async function createAlias(...targets: object[]): Promise<string> {
  const alias = `circuit-${made++}`
  const body = { alias, strategy: 'priority', targets }
  const answer = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)
  expect(answer.status).toBe(201)
  return alias
}

async function call(model: string, fields: object = {}, headers: Record<string, string> = {}) {
  const response = await app.call('/v1/chat', { model, messages, ...fields }, { headers })
  const text = await response.text()
  return {
    status: response.status,
    code: /"code":"(\w+)"/.exec(text)?.[1],
    model: response.headers.get('x-rideau-model'),
    attempts: Number(response.headers.get('x-rideau-attempts')),
    requestId: response.headers.get('x-request-id') ?? '',
  }
}

/** Counts the requests that reach an upstream meanwhile. */
async function countAt(upstream: ScriptedUpstream, run: () => Promise<unknown>): Promise<number> {
  const before = upstream.requests.length
  await run()
  return upstream.requests.length - before
}

const times = async (count: number, run: () => Promise<unknown>): Promise<void> => {
  for (let n = 0; n < count; n++) await run()
}

describe('a target that always fails', () => {
  test('gets ten requests, then one probe at a time, and all of them again once a probe succeeds', async () => {
    const alias = await createAlias({ model: A }, { model: B })
    first.script(FAILED)
    expect(await countAt(first, () => times(30, () => call(alias)))).toBe(MIN_CALLS)
    expect(changes).toEqual(['opened'])
    for (const waitMs of [1_000, 2_000, 4_000, 5_000, 5_000]) {
      now += waitMs
      const all = () => Promise.all(Array.from({ length: 20 }, () => call(alias)))
      expect(await countAt(first, all)).toBe(1)
    }
    first.script(completion('recovered'))
    now += 5_000
    expect(await call(alias)).toMatchObject({ status: 200, model: A, attempts: 1 })
    expect(changes.at(-1)).toBe('closed')
    expect(await countAt(first, () => times(10, () => call(alias)))).toBe(10)
  })

  test('is named in the log as passed over, and not counted as an attempt', async () => {
    const alias = await createAlias({ model: A }, { model: B })
    first.script(UNREACHABLE)
    await times(MIN_CALLS, () => call(alias))
    const answer = await call(alias)
    expect(answer).toMatchObject({ status: 200, model: B, attempts: 1 })
    const log = await app.findLog(answer.requestId)
    expect(log.attempts.map((each: any) => [each.target, each.status, each.error])).toEqual([
      [A, null, 'circuit_open'],
      [B, 200, null],
    ])
  })

  test('is still called if it is the only one, and used again by its first success', async () => {
    const alias = await createAlias({ model: A, max_retries: 0 })
    first.script(FAILED)
    expect(await countAt(first, () => times(15, () => call(alias)))).toBe(15)
    expect(changes).toEqual(['opened'])
    first.script(completion('back'))
    expect((await call(A)).status).toBe(200)
    expect(changes).toEqual(['opened', 'closed'])
  })

  test('is called once for each request if all targets fail', async () => {
    const alias = await createAlias({ model: A, max_retries: 0 }, { model: B, max_retries: 0 })
    first.script(FAILED)
    second.script(FAILED)
    await times(MIN_CALLS, () => call(alias))
    expect(changes).toEqual(['opened', 'opened'])
    const answer = await call(alias)
    expect(answer).toMatchObject({ status: 503, code: 'provider_unavailable' })
    expect((await app.findLog(answer.requestId)).attempts.map((each: any) => each.error)).toEqual([
      'circuit_open',
      'unavailable',
    ])
  })

  test('opens the same circuit for streams', async () => {
    const alias = await createAlias({ model: A }, { model: B })
    first.script(FAILED)
    second.script(streamedCompletion('hello'))
    expect(await countAt(first, () => times(15, () => call(alias, { stream: true })))).toBe(MIN_CALLS)
  })
})

describe('a circuit stays closed', () => {
  const stays = async (answer: UpstreamAnswer, run: () => Promise<unknown>): Promise<void> => {
    first.script(answer)
    await times(12, run)
    expect(changes).toEqual([])
  }

  test.each([400, 401, 404, 413, 422, 429])('after answers of status %i', async status => {
    await stays(json(status, { error: { message: 'no' } }), () => call(A))
  })

  test('after timeouts that the request asked for', async () => {
    first.script(() => {})
    await Promise.all(Array.from({ length: 12 }, () => call(A, { timeout_ms: 1000 })))
    expect(changes).toEqual([])
  })

  test('after callers that left', async () => {
    first.script(() => {})
    const before = first.requests.length
    const stop = new AbortController()
    const calls = Array.from({ length: 12 }, () =>
      fetch(`${app.gatewayUrl}/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: A, messages }),
        signal: stop.signal,
      }).catch(() => {}),
    )
    await expect.poll(() => first.requests.length).toBe(before + 12)
    stop.abort()
    await Promise.all(calls)
    await Promise.all(first.requests.slice(before).map(({ closed }) => closed))
    expect(changes).toEqual([])
  })

  test('after one end user whose requests all fail, and opens for several', async () => {
    const alias = await createAlias({ model: A, max_retries: 0 })
    const as = (user: string) => () => call(alias, {}, { 'x-rideau-end-user': user })
    await stays(FAILED, as('mallory'))
    for (const user of ['ann', 'ben', 'eve']) await times(3, as(user))
    expect(changes).toEqual(['opened'])
  })

  test('after one request that fails as often as it may', async () => {
    const alias = await createAlias({ model: A, max_retries: 10 })
    first.script(FAILED)
    expect(await countAt(first, () => call(alias))).toBe(11)
    expect(changes).toEqual([])
  })
})

test('a probe whose caller leaves makes room for the next one', async () => {
  const alias = await createAlias({ model: A }, { model: B })
  first.script(FAILED)
  await times(MIN_CALLS, () => call(alias))
  first.script(() => {})
  now += 1_000
  const before = first.requests.length
  const stop = new AbortController()
  const probe = fetch(`${app.gatewayUrl}/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: alias, messages }),
    signal: stop.signal,
  }).catch(() => {})
  await expect.poll(() => first.requests.length).toBe(before + 1)
  expect((await call(alias)).model).toBe(B)
  stop.abort()
  await probe
  first.script(completion('back'))
  await expect.poll(async () => (await call(alias)).model).toBe(A)
})

describe('max_retries', () => {
  test.each([
    [0, 1],
    [2, 3],
    [5, 6],
    [10, 11],
  ])('%i makes %i attempts at the target before the next', async (max_retries, expected) => {
    first.script(UNREACHABLE)
    const alone = await createAlias({ model: A, max_retries })
    expect(await countAt(first, () => call(alone))).toBe(expected)
    const alias = await createAlias({ model: A, max_retries }, { model: B })
    expect(
      await countAt(first, async () => {
        expect(await call(alias)).toMatchObject({ status: 200, model: B, attempts: expected + 1 })
      }),
    ).toBe(expected)
  })

  test('counts attempts with other credentials, and repeats when there are no more', async () => {
    first.script(json(529, {}))
    const keysOf = async (max_retries: number): Promise<number> => {
      const alias = await createAlias({ model: 'custom-many/m', max_retries }, { model: B })
      const before = first.requests.length
      expect((await call(alias)).attempts).toBe(max_retries + 2)
      return new Set(first.requests.slice(before).map(({ headers }) => headers.authorization)).size
    }
    expect(await keysOf(0)).toBe(1)
    expect(await keysOf(1)).toBe(2)
    expect(await keysOf(3)).toBe(3)
  })

  test('adds up to 24 attempts of a request at most', async () => {
    const targets = Array.from({ length: 20 }, (_, n) => ({ model: `custom-a/m${n}`, max_retries: 1 }))
    first.script(json(401, {}))
    expect(await countAt(first, async () => call(await createAlias(...targets)))).toBe(20)
    first.script(json(503, {}, { 'retry-after': '0' }))
    const models = Array.from({ length: 20 }, (_, n) => ({ model: `custom-many/m${n}`, max_retries: 2 }))
    expect(await countAt(first, async () => call(await createAlias(...models)))).toBe(24)
  })
})

describe('several credentials of a provider', () => {
  const M = 'custom-many/m'
  const keyOf = async (user?: string, content = 'hi', later: object[] = []): Promise<string> => {
    const fields = { messages: [{ role: 'user', content }, ...later] }
    await call(M, fields, user === undefined ? {} : { 'x-rideau-end-user': user })
    return first.requests.at(-1)?.headers.authorization ?? ''
  }

  test('share end users and conversations, each of which stays with one', async () => {
    const users = Array.from({ length: 24 }, (_, n) => `user-${n}`)
    const before = new Map<string, string>()
    for (const user of users) before.set(user, await keyOf(user))
    expect(new Set(before.values()).size).toBe(3)
    for (const user of users) expect(await keyOf(user, 'something else')).toBe(before.get(user))
    const later = [
      { role: 'assistant', content: 'yes?' },
      { role: 'user', content: 'more' },
    ]
    const firstKeys = new Set<string>()
    for (const content of users) {
      const key = await keyOf(undefined, content)
      firstKeys.add(key)
      expect(await keyOf(undefined, content, later)).toBe(key)
    }
    expect(firstKeys.size).toBe(3)
  })

  test('take over from one that is limited, for as long as its provider asks', async () => {
    const own = await keyOf('ann')
    first.script((res, seen) => {
      const isLimited = seen.headers.authorization === own
      const answer = isLimited ? json(429, {}, { 'retry-after': '20' }) : completion('other')
      return answer(res, seen)
    })
    const limited = first.requests.length
    expect(await call(M, {}, { 'x-rideau-end-user': 'ann' })).toMatchObject({ status: 200, attempts: 2 })
    expect(first.requests[limited]?.headers.authorization).toBe(own)
    for (let n = 0; n < 5; n++) expect(await keyOf('ann')).not.toBe(own)
    now += 20_000
    first.script(completion('again'))
    expect(await keyOf('ann')).toBe(own)
  })

  test('are called although all of them rest', async () => {
    first.script(json(429, {}, { 'retry-after': '20' }))
    expect((await call(M)).code).toBe('provider_overloaded')
    first.script(completion('again'))
    expect(await call(M)).toMatchObject({ status: 200, attempts: 1 })
  })
})

test('a count of tokens neither opens nor closes a circuit', async () => {
  first.script(FAILED)
  const count = { model: A, messages, max_tokens: 5 }
  await times(12, async () => (await app.call('/anthropic/v1/messages/count_tokens', count)).text())
  expect(changes).toEqual([])
  await times(MIN_CALLS, () => call(A))
  expect(changes).toEqual(['opened'])
  await (await app.call('/anthropic/v1/messages/count_tokens', count)).text()
  expect(changes).toEqual(['opened'])
})

test('sandbox/interrupted gives 502 stream_interrupted to a plain request', async () => {
  expect(await call('sandbox/interrupted')).toMatchObject({ status: 502, code: 'stream_interrupted' })
})
