import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

const ECHO_CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }

/** Makes a chat request and returns its id. */
async function ask(key = app.secretKey): Promise<string> {
  const response = await app.call('/v1/chat', ECHO_CHAT, { key })
  expect(response.status).toBe(200)
  return response.headers.get('x-request-id') as string
}

async function sendFeedback(body: object, key = app.secretKey): Promise<string> {
  const response = await app.call('/v1/feedback', body, { key })
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } }
  return [response.status, error?.code, error?.param].filter(part => part != null).join(' ')
}

async function playgroundToken(): Promise<string> {
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/playground-token`, {})
  return made.body.token
}

describe('POST /v1/feedback', () => {
  test('returns 201 right after the answer, stores feedback with the record, and the last one counts', async () => {
    const request_id = await ask()
    const given = { request_id, score: 0.5, comment: 'good \u0000 é', tags: ['tone'] }
    const response = await app.call('/v1/feedback', given)
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ request_id, score: 0.5, tags: ['tone'] })
    expect((await app.findLog(request_id)).feedback).toMatchObject({
      score: 0.5,
      comment: 'good \ufffd é',
      tags: ['tone'],
    })
    expect(await sendFeedback({ request_id: request_id.toUpperCase(), score: -1 })).toBe('201')
    expect((await app.findLog(request_id)).feedback).toMatchObject({ score: -1, comment: null, tags: [] })
  })

  test('returns 403 endpoint_not_allowed if the plan of the end user lacks the scope', async () => {
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('POST', `${environment}/plans`, { name: 'quiet', scopes: ['ai.chat'] })
    await app.manage('POST', `${environment}/end-users`, { external_id: 'quiet user', plan: 'quiet' })
    const minted = await app.call('/v1/client-tokens', {
      end_user: { external_id: 'quiet user' },
      scopes: ['ai.chat', 'feedback'],
    })
    const { token } = (await minted.json()) as { token: string }
    const request_id = await ask(token)
    expect(await sendFeedback({ request_id, score: 1 }, token)).toBe('403 endpoint_not_allowed')
  })

  test('returns 404 resource_not_found for unknown requests and those of other environments and end users', async () => {
    expect(await sendFeedback({ request_id: crypto.randomUUID(), score: 1 })).toBe(
      '404 resource_not_found request_id',
    )
    const elsewhere = await app.createKey({}, app.productionId)
    const request_id = await ask()
    expect(await sendFeedback({ request_id, score: 1 }, elsewhere.key)).toBe(
      '404 resource_not_found request_id',
    )
    const token = await playgroundToken()
    expect(await sendFeedback({ request_id, score: 1 }, token)).toBe('404 resource_not_found request_id')
    expect(await sendFeedback({ request_id: await ask(token), score: 1 }, token)).toBe('201')
    expect((await app.findLog(request_id)).feedback).toBeNull()
  })

  test.each([
    [{ score: 1 }, 'request_id'],
    [{ request_id: 'x', score: 1 }, 'request_id'],
    [{ request_id: crypto.randomUUID() }, 'score'],
    [{ request_id: crypto.randomUUID(), score: 1.01 }, 'score'],
    [{ request_id: crypto.randomUUID(), score: '1' }, 'score'],
    [{ request_id: crypto.randomUUID(), score: 1, comment: 'x'.repeat(1001) }, 'comment'],
    [{ request_id: crypto.randomUUID(), score: 1, tags: 'x' }, 'tags'],
    [{ request_id: crypto.randomUUID(), score: 1, tags: [''] }, 'tags[0]'],
    [{ request_id: crypto.randomUUID(), score: 1, comment: '\ud800' }, 'comment'],
    [{ request_id: crypto.randomUUID(), score: 1, tags: ['a', '\udfff'] }, 'tags[1]'],
    [{ request_id: crypto.randomUUID(), score: 1, more: 1 }, 'more'],
  ])('returns 400 invalid_request for %j', async (body, param) => {
    expect(await sendFeedback(body)).toBe(`400 invalid_request ${param}`)
  })

  test('returns 403 endpoint_not_allowed without the scope or the endpoint', async () => {
    const scoped = await app.createKey({ scopes: ['ai.chat'] })
    const restricted = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    for (const { key } of [scoped, restricted]) {
      expect(await sendFeedback({ request_id: crypto.randomUUID(), score: 1 }, key)).toBe(
        '403 endpoint_not_allowed',
      )
    }
  })
})

describe("a request's record", () => {
  test('states the reserved and settled amounts if a limit of tokens or money applied, else null', async () => {
    const { id, key } = await app.createKey({})
    expect(await app.findLog(await ask(key))).toMatchObject({ hold: null, settlement: null })
    const quota = { scope: 'key', scope_ref: id, metric: 'tokens', window: 'day', limit: 1_000_000 }
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/quotas`, quota)
    expect(made.status).toBe(201)
    const log = await app.findLog(await ask(key))
    expect(log.settlement).toEqual({
      tokens: log.usage.total_tokens,
      cost_usd: log.cost_usd,
      estimated: false,
    })
    expect(log.hold.tokens).toBeGreaterThanOrEqual(log.settlement.tokens)
    expect(log.hold.cost_usd).toBeGreaterThanOrEqual(log.settlement.cost_usd)
  })
})
