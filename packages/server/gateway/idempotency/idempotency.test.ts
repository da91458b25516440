import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { gateAnswers } from '../../testing/fakes/gated-answers.ts'
import {
  chunk,
  completion,
  cutStream,
  json,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { callWithKey, type IdempotentCallOptions } from '../../testing/harness/idempotent-calls.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT, USED } from '../../testing/harness/limited-app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
})
afterAll(async () => {
  await limited.close()
})
beforeEach(async () => {
  await limited.reset()
})

const hello = completion('hello', { usage: USED })
const STREAM = { ...PRICED_CHAT, stream: true }

const call = (idempotencyKey: string, options?: IdempotentCallOptions) =>
  callWithKey(app, idempotencyKey, options)

const gate = (...answers: UpstreamAnswer[]) => gateAnswers(upstream, answers)

const rows = async (): Promise<number> =>
  (await app.database.pool.query('select from idempotent_answers where expires_at is null')).rows.length

describe('an Idempotency-Key', () => {
  test.each([
    ['that is empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a tab', 'a\tb'],
    ['with a letter outside ASCII', 'é'],
  ])('%s is refused before the provider is called', async (_name, key) => {
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', PRICED_CHAT, { headers: { 'idempotency-key': key } })
    const { error } = (await response.json()) as any
    expect([response.status, error.code, error.param]).toEqual([
      400,
      'request_validation_failed',
      'Idempotency-Key',
    ])
    expect(upstream.requests.length).toBe(before)
  })

  test('is refused if it is sent twice', async () => {
    const raw = await openRaw(app.gatewayUrl)
    const body = JSON.stringify(PRICED_CHAT)
    raw.socket.write(
      `POST /v1/chat HTTP/1.1\r\nHost: l\r\nAuthorization: Bearer ${app.secretKey}\r\nContent-Type: application/json\r\n` +
        `Idempotency-Key: a\r\nIdempotency-Key: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(await raw.until('"param":"Idempotency-Key"')).toContain('400 Bad Request')
    raw.socket.destroy()
  })

  test('is accepted with 1 or 255 characters', async () => {
    expect(await call('!')).toBe('200 made')
    expect(await call(randomUUID().padEnd(255, ' ~'))).toBe('200 made')
  })

  test('with another body is 409 idempotency_conflict, while the first is running and later', async () => {
    const provider = gate(hello)
    const key = randomUUID()
    const other = { ...PRICED_CHAT, max_tokens: 999 }
    const first = call(key)
    await provider.arrived()
    expect(await call(key, { body: other })).toBe('409 idempotency_conflict')
    provider.open()
    expect(await first).toBe('200 made')
    expect(await call(key, { body: other })).toBe('409 idempotency_conflict')
    expect(await call(key)).toBe('200 replayed')
    expect(provider.calls()).toBe(1)
  })

  test('is scoped to the end user, the path and the environment', async () => {
    const before = upstream.requests.length
    const key = randomUUID()
    const alice = { headers: { 'x-rideau-end-user': 'alice' } }
    const bob = { headers: { 'x-rideau-end-user': 'bob' } }
    expect([await call(key), await call(key, alice), await call(key, bob), await call(key, alice)]).toEqual([
      '200 made',
      '200 made',
      '200 made',
      '200 replayed',
    ])
    expect(await call(key, { route: '/openai/v1/chat/completions' })).toBe('200 made')
    expect(upstream.requests.length).toBe(before + 4)
    const production = (await app.createKey({}, app.productionId)).key
    await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl }, app.productionId)
    const chat = { model: 'custom/any', messages: [{ role: 'user', content: 'hi' }] }
    expect([await call(key, { body: chat, key: production }), await call(key)]).toEqual([
      '200 made',
      '200 replayed',
    ])
  })

  test('is stored as a hash, and the answer encrypted', async () => {
    upstream.script(completion('a secret answer', { usage: USED }))
    const key = randomUUID()
    expect(await call(key)).toBe('200 made')
    const { rows: stored } = await app.database.pool.query(
      'select answer_cipher, row_to_json(a)::text as text from idempotent_answers a',
    )
    expect(stored.length).toBeGreaterThan(0)
    for (const { answer_cipher, text } of stored) {
      expect(text).not.toContain(key)
      expect(answer_cipher.toString('latin1')).not.toContain('secret answer')
    }
  })
})

test.each([
  ['a refusal by the provider', PRICED_CHAT, json(400, { error: { message: 'no' } })],
  ['a stream that breaks off', STREAM, cutStream(chunk({ content: 'a' }))],
])('%s leaves the key free, also for another body', async (_name, body, answer) => {
  upstream.script(answer)
  const key = randomUUID()
  expect(await call(key, { body })).not.toMatch(/made|replayed/)
  await expect.poll(rows, { timeout: 20_000 }).toBe(0)
  upstream.script(hello)
  expect(await call(key, { body: { ...PRICED_CHAT, max_tokens: 998 } })).toBe('200 made')
})

describe('before a replay', () => {
  test('the credential is checked: a revoked key is refused', async () => {
    const { id, key } = await app.createKey({})
    const idempotencyKey = randomUUID()
    expect(await call(idempotencyKey, { key })).toBe('200 made')
    await app.manage('POST', `/v1/keys/${id}/revoke`)
    expect(await call(idempotencyKey, { key })).toBe('401 key_revoked')
  })

  test('the model lists are checked: a key without the model is refused', async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['openai/*'] } })
    const idempotencyKey = randomUUID()
    expect(await call(idempotencyKey)).toBe('200 made')
    expect(await call(idempotencyKey, { key })).toBe('403 model_not_allowed')
  })

  test('the end user is checked: a blocked one is refused', async () => {
    const idempotencyKey = randomUUID()
    const carol = { headers: { 'x-rideau-end-user': 'carol' } }
    expect(await call(idempotencyKey, carol)).toBe('200 made')
    const endUsers = `/v1/environments/${app.developmentId}/end-users`
    const find = async () =>
      (await app.manage('GET', endUsers)).body.data.find((each: any) => each.external_id === 'carol')
    await expect.poll(find, { timeout: 20_000 }).toBeDefined()
    const { id } = await find()
    expect((await app.manage('POST', `/v1/end-users/${id}/block`)).status).toBe(200)
    expect(await call(idempotencyKey, carol)).toBe('403 end_user_blocked')
  })
})

test('a replay is never billed, uses no limit, is served beyond a spent budget, and leaves no record', async () => {
  const { key, budget } = await limited.freshKey(0.05)
  const keyId = (await budget()).scope_ref
  await limited.limit('quotas', {
    scope: 'key',
    scope_ref: keyId,
    metric: 'requests',
    window: 'month',
    limit: 1,
  })
  const idempotencyKey = randomUUID()
  expect(await call(idempotencyKey, { key })).toBe('200 made')
  expect(await call(randomUUID(), { key })).toMatch(/^(402|429) /)
  const requestId = randomUUID()
  expect(await call(idempotencyKey, { key, headers: { 'x-request-id': requestId } })).toBe('200 replayed')
  for (let n = 0; n < 5; n++) expect(await call(idempotencyKey, { key })).toBe('200 replayed')
  expect(await budget()).toMatchObject({ spent_usd: 0.05, reserved_usd: 0 })
  expect((await limited.list('quotas'))[0].used).toBe(1)
  const served = async () =>
    (await app.database.pool.query('select from usage_records where key_id = $1 and status = 200', [keyId]))
      .rows.length
  await expect.poll(served, { timeout: 20_000 }).toBe(1)
  expect((await app.manage('GET', `/v1/logs/${requestId}`)).status).toBe(404)
})

describe('while the database fails', () => {
  const query = (text: string) => app.database.pool.query(text)

  test('a new key is refused with config_unavailable before the provider is called; a known one is replayed', async () => {
    const known = randomUUID()
    expect(await call(known)).toBe('200 made')
    const before = upstream.requests.length
    await query('alter table idempotent_answers rename to away')
    const key = randomUUID()
    try {
      expect(await call(key)).toBe('500 config_unavailable')
      expect(await call(known)).toBe('200 replayed')
    } finally {
      await query('alter table away rename to idempotent_answers')
    }
    expect(upstream.requests.length).toBe(before)
    expect(await call(key)).toBe('200 made')
  })

  test('a key whose claim is late is refused, and free once the claim arrives', async () => {
    const locker = await app.database.pool.connect()
    const before = upstream.requests.length
    const key = randomUUID()
    try {
      await locker.query('begin')
      await locker.query('lock table idempotent_answers in access exclusive mode')
      expect(await call(key)).toBe('500 config_unavailable')
      expect(upstream.requests.length).toBe(before)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    expect(await call(key)).toBe('200 made')
  })

  test('an answer that cannot be stored is sent, replayed from memory, and stored later', async () => {
    const provider = gate(hello)
    const key = randomUUID()
    const first = call(key)
    await provider.arrived()
    const waiter = call(key)
    await query('alter table idempotent_answers rename to away')
    try {
      provider.open()
      expect(await first).toBe('200 made')
      expect(await waiter).toBe('200 replayed')
      expect(await call(key)).toBe('200 replayed')
    } finally {
      await query('alter table away rename to idempotent_answers')
    }
    await expect.poll(rows, { timeout: 20_000 }).toBe(0)
    expect(await call(key)).toBe('200 replayed')
    expect(provider.calls()).toBe(1)
  })
})
