import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateAnswers } from '../../testing/fakes/gated-answers.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
  upstream.script(completion('Hello.'))
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const BODY = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Say hello.' }] }

async function outcome(key: string, body: object = BODY): Promise<string> {
  const response = await app.call('/v1/chat', body, { key })
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } }
  return [response.status, error?.code, error?.param].filter(part => part != null).join(' ')
}

const roll = async (id: string, body: object): Promise<string> =>
  (await app.manage('POST', `/v1/keys/${id}/roll`, body)).body.key

describe('a rolled key', () => {
  test('is accepted next to the new one until the overlap ends', async () => {
    const old = await app.createKey({})
    const successor = await roll(old.id, { overlap_hours: 1 })
    expect([await outcome(old.key), await outcome(successor)]).toEqual(['200', '200'])
    await app.database.pool.query('update keys set expires_at = now() where id = $1', [old.id])
    // A write through the control plane waits for the notification of a change made by plain SQL.
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, {})
    expect([await outcome(old.key), await outcome(successor)]).toEqual(['401 key_expired', '200'])
  })

  test('is rejected at once without an overlap', async () => {
    const old = await app.createKey({})
    expect(await outcome(old.key)).toBe('200')
    const successor = await roll(old.id, { overlap_seconds: 0 })
    expect([await outcome(old.key), await outcome(successor)]).toEqual(['401 key_expired', '200'])
  })

  test('passes its restrictions on to the new key', async () => {
    const old = await app.createKey({ restrictions: { allowed_models: ['openai/*'] } })
    expect(await outcome(await roll(old.id, {}))).toBe('403 model_not_allowed model')
  })
})

test('rejects every request that starts after the revocation returned, under load', async () => {
  for (let round = 0; round < 3; round++) {
    const { id, key } = await app.createKey({})
    let revokedAt = Number.POSITIVE_INFINITY
    let refused = 0
    const wrong: string[] = []
    const caller = async (): Promise<void> => {
      while (refused < 20) {
        const startedAt = performance.now()
        const seen = await outcome(key)
        if (seen !== '200') refused++
        if (startedAt > revokedAt && seen !== '401 key_revoked') wrong.push(seen)
        if (startedAt <= revokedAt && seen !== '200' && seen !== '401 key_revoked') wrong.push(seen)
      }
    }
    const callers = Array.from({ length: 8 }, caller)
    expect(await outcome(key)).toBe('200')
    const { status } = await app.manage('POST', `/v1/keys/${id}/revoke`)
    revokedAt = performance.now()
    expect(status).toBe(200)
    await Promise.all(callers)
    expect(wrong).toEqual([])
  }
})

test('finishes the answers that run when their key is revoked or their end user is blocked', async () => {
  const answers = gateAnswers(upstream, [completion('Hello.'), completion('Hello.')])
  const { id, key } = await app.createKey({})
  const { body: user } = await app.manage('POST', `/v1/environments/${app.developmentId}/end-users`, {
    external_id: 'ada',
  })
  const body = { ...BODY, model: 'openai/gpt-4o-mini', end_user: 'ada' }
  const running = [outcome(key, body), outcome(key, body)]
  await expect.poll(() => answers.calls()).toBe(2)
  expect((await app.manage('POST', `/v1/end-users/${user.id}/block`)).status).toBe(200)
  expect((await app.manage('POST', `/v1/keys/${id}/revoke`)).status).toBe(200)
  expect(await outcome(key)).toBe('401 key_revoked')
  answers.open()
  answers.open()
  expect(await Promise.all(running)).toEqual(['200', '200'])
  upstream.script(completion('Hello.'))
})

test('applies a changed restriction from the next request on', async () => {
  const { id, key } = await app.createKey({})
  expect(await outcome(key)).toBe('200')
  await app.manage('PATCH', `/v1/keys/${id}`, { restrictions: { allowed_models: ['openai/*'] } })
  expect(await outcome(key)).toBe('403 model_not_allowed model')
  await app.manage('PATCH', `/v1/keys/${id}`, { restrictions: null, scopes: ['feedback'] })
  expect(await outcome(key)).toBe('403 endpoint_not_allowed')
})

describe('max_request_cost_usd', () => {
  // gpt-4o-mini costs 0.15 and 0.6 dollars per million. "Say hello." counts 7 tokens, which is 1,050 nano-dollars.
  const MINI = { ...BODY, model: 'openai/gpt-4o-mini' }
  const bounded = async (usd: number): Promise<string> =>
    (await app.createKey({ restrictions: { max_request_cost_usd: usd } })).key

  test("limits the cost of the input and the caller's output cap", async () => {
    const key = await bounded(0.000_061_05)
    expect(await outcome(key, { ...MINI, max_output_tokens: 100 })).toBe('200')
    expect(upstream.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 100 })
    const seen = upstream.requests.length
    expect(await outcome(key, { ...MINI, max_output_tokens: 101 })).toBe(
      '402 budget_exceeded restrictions.max_request_cost_usd',
    )
    expect(upstream.requests).toHaveLength(seen)
  })

  test('sets the output cap if the caller sets none', async () => {
    expect(await outcome(await bounded(0.000_061_05), MINI)).toBe('200')
    expect(upstream.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 100 })
    expect(await outcome(await bounded(0.000_061_64), MINI)).toBe('200')
    expect(upstream.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 100 })
    expect(await outcome(await bounded(0.000_001_65), MINI)).toBe('200')
    expect(upstream.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 1 })
    expect(await outcome(await bounded(0.000_001_649), MINI)).toBe(
      '402 budget_exceeded restrictions.max_request_cost_usd',
    )
  })

  test("sets no cap if the model's own maximum stays within it", async () => {
    expect(await outcome(await bounded(1), MINI)).toBe('200')
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('max_completion_tokens')
  })

  test('applies to the fictitious prices of the sandbox too', async () => {
    expect(await outcome(await bounded(0.000_001))).toBe(
      '402 budget_exceeded restrictions.max_request_cost_usd',
    )
  })

  test('counts each of several choices that a caller requests', async () => {
    const key = await bounded(0.000_061_05)
    const call = async (n: number): Promise<number> =>
      (await app.call('/openai/v1/chat/completions', { ...MINI, n, max_tokens: 50 }, { key })).status
    expect([await call(2), await call(3)]).toEqual([200, 402])
  })

  test('refuses an unknown price with 400 model_unpriced', async () => {
    await app.addCredential('custom', { base_url: upstream.baseUrl })
    const key = await bounded(1)
    expect(await outcome(key, { ...BODY, model: 'custom/anything' })).toBe('400 model_unpriced model')
  })
})

describe('last_used_at', () => {
  test('is stored when the app closes at the latest, without a change notification', async () => {
    const other = await openTestApp()
    const { id, key } = await other.createKey({})
    await other.createKey({})
    const before = Date.now()
    await other.call('/v1/chat', BODY, { key })
    await other.stop()
    const { rows } = await other.database.pool.query<{ id: string; last_used_at: Date | null }>(
      'select id, last_used_at from keys where last_used_at is not null',
    )
    expect(rows.map(row => row.id)).toEqual([id])
    expect(rows[0]?.last_used_at?.getTime()).toBeGreaterThanOrEqual(before)
    await other.close()
  })
})
