import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunk, completion, DONE, stream, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
  limited.upstream.script(
    completion('hello', { usage: { prompt_tokens: 1, completion_tokens: 10, total_tokens: 11 } }),
  )
})

const CHAT = { model: PRICED, messages: [{ role: 'user', content: 'hi' }] }
/** The output tokens that cost $0.45 at $50 per million. */
const MANY = 9_000

/** Returns a key with a budget in USD of its own. */
async function keyWith(limitUsd: number, settings: object = {}): Promise<string> {
  const { id, key } = await limited.app.createKey({})
  const budget = { limit_usd: limitUsd, window: 'month', scope: 'key', scope_ref: id, ...settings }
  await limited.limit('budgets', budget)
  return key
}

async function ask(key: string, fields: object, route = '/v1/chat') {
  const response = await limited.app.call(route, { ...CHAT, ...fields }, { key })
  const text = await response.text()
  return {
    status: response.status,
    cap: response.headers.get('x-rideau-output-cap'),
    requestId: response.headers.get('x-request-id') as string,
    code: response.status === 200 ? undefined : JSON.parse(text).error.code,
  }
}

/** The cap that the provider was asked for last. */
function sentCap(): unknown {
  const body = limited.upstream.requests.at(-1)?.body
  return body?.max_completion_tokens ?? body?.max_tokens
}

describe('a maximum of output that a budget does not allow whole', () => {
  test.each([
    ['/v1/chat', 'max_output_tokens'],
    ['/openai/v1/chat/completions', 'max_completion_tokens'],
    ['/openai/v1/chat/completions', 'max_tokens'],
  ])('is lowered on %s as %s, and the answer and its record say so', async (route, name) => {
    const answer = await ask(await keyWith(0.3), { [name]: MANY }, route)
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, '4096', 4096])
    expect((await limited.app.findLog(answer.requestId)).output_cap).toBe(4096)
  })

  test('is lowered where it would take a large share of what is left', async () => {
    const answer = await ask(await keyWith(2), { max_output_tokens: MANY })
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, '4096', 4096])
  })

  test('is lowered in an Anthropic answer too, whose header says so', async () => {
    const answer = await ask(await keyWith(0.3), { max_tokens: MANY }, '/anthropic/v1/messages')
    expect([answer.status, answer.cap]).toEqual([200, '4096'])
  })

  test('is not named where nothing was lowered', async () => {
    const answer = await ask(await keyWith(100), { max_output_tokens: MANY })
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, null, MANY])
    expect((await limited.app.findLog(answer.requestId)).output_cap).toBeNull()
    const unlimited = await ask(limited.app.secretKey, {})
    expect([unlimited.status, unlimited.cap]).toEqual([200, null])
  })

  test('is named where the caller named no maximum and the gateway set one', async () => {
    const answer = await ask(await keyWith(0.3), {})
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, '4096', 4096])
  })

  test("is named where a key's max_request_cost_usd lowered it", async () => {
    const { key } = await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.05 } })
    const answer = await ask(key, {})
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, '1000', 1000])
  })

  test('is named in a header that browsers may read', async () => {
    const key = await keyWith(0.3)
    const { body } = await limited.app.manage('GET', `/v1/projects/${limited.app.projectId}`)
    await limited.app.manage('PATCH', `/v1/projects/${limited.app.projectId}`, {
      allowed_origins: ['https://app.example'],
    })
    const minted = await limited.app.call(
      '/v1/client-tokens',
      { end_user: { id: 'u' }, scopes: ['ai.chat'] },
      { key },
    )
    const { token } = (await minted.json()) as { token: string }
    const response = await limited.app.call(
      '/v1/chat',
      { ...CHAT, max_output_tokens: MANY },
      { key: token, headers: { origin: 'https://app.example' } },
    )
    expect(response.headers.get('x-rideau-output-cap')).toBe('4096')
    expect(response.headers.get('access-control-expose-headers')).toContain('X-Rideau-Output-Cap')
    await limited.app.manage('PATCH', `/v1/projects/${limited.app.projectId}`, {
      allowed_origins: body.allowed_origins,
    })
  })
})

describe('the maximum of a custom model, which its server may not know,', () => {
  test('is sent where the request names none, and the header names nothing lowered', async () => {
    const answer = await ask(await keyWith(100), {})
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, null, 10_000])
    const { key } = await limited.app.createKey({ restrictions: { max_request_cost_usd: 2 } })
    expect([(await ask(key, {})).status, sentCap()]).toEqual([200, 10_000])
  })

  test('is sent with a stream, and where the request names more', async () => {
    const key = await keyWith(100)
    limited.upstream.script(stream(chunk({ content: 'hi' }), chunk({}, 'stop'), usageChunk(), DONE))
    expect([(await ask(key, { stream: true })).status, sentCap()]).toEqual([200, 10_000])
    limited.upstream.script(completion('hello'))
    const whole = await keyWith(100, { on_tight: 'refuse' })
    expect([(await ask(whole, { max_output_tokens: 50_000 })).status, sentCap()]).toEqual([200, 10_000])
  })

  test('is not sent where the context window leaves less, which the server knows', async () => {
    const content = 'The quick brown fox jumps over the lazy dog. '.repeat(9_000)
    const answer = await ask(await keyWith(100), { messages: [{ role: 'user', content }] })
    expect([answer.status, sentCap()]).toEqual([200, undefined])
  })
})

describe('thinking that an output cap of the model leaves out', () => {
  beforeAll(() => limited.app.addCredential('alibaba', { api_key: 'k', base_url: limited.upstream.baseUrl }))
  const QWEN = 'alibaba/qwen3-14b'

  test('is bounded where the request names no cap, or a higher one than the model has', async () => {
    const key = await keyWith(100)
    for (const fields of [{}, { max_output_tokens: 100_000 }]) {
      expect((await ask(key, { model: QWEN, ...fields })).status).toBe(200)
      expect(limited.upstream.requests.at(-1)?.body).toMatchObject({
        max_tokens: 4_096,
        thinking_budget: 4_096,
      })
    }
    const { key: bounded } = await limited.app.createKey({ restrictions: { max_request_cost_usd: 2 } })
    expect((await ask(bounded, { model: QWEN })).status).toBe(200)
    expect(limited.upstream.requests.at(-1)?.body).toMatchObject({ thinking_budget: 4_096 })
  })
})

describe('a budget whose on_tight is refuse', () => {
  test('refuses a maximum that does not fit with 402, without a call upstream', async () => {
    const key = await keyWith(0.3, { on_tight: 'refuse' })
    const seen = limited.upstream.requests.length
    const answer = await ask(key, { max_output_tokens: MANY })
    expect([answer.status, answer.code]).toEqual([402, 'budget_exceeded'])
    expect(limited.upstream.requests).toHaveLength(seen)
    expect((await limited.app.findLog(answer.requestId)).output_cap).toBeNull()
    // What fits is answered whole.
    const small = await ask(key, { max_output_tokens: 5_000 })
    expect([small.status, small.cap, sentCap()]).toEqual([200, null, 5_000])
  })

  test('keeps a maximum whole that takes a large share of what is left', async () => {
    const answer = await ask(await keyWith(0.5, { on_tight: 'refuse' }), { max_output_tokens: MANY })
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, null, MANY])
  })

  test('refuses a stream at its start, so that it is never cut', async () => {
    const key = await keyWith(0.3, { on_tight: 'refuse' })
    const answer = await ask(key, { max_output_tokens: MANY, stream: true })
    expect([answer.status, answer.code]).toEqual([402, 'budget_exceeded'])
    limited.upstream.script(stream(chunk({ content: 'hi' }), chunk({}, 'stop'), usageChunk(), DONE))
    expect((await ask(key, { max_output_tokens: 5_000, stream: true })).status).toBe(200)
  })

  test('lowers the cap of a request that names no maximum', async () => {
    const answer = await ask(await keyWith(0.3, { on_tight: 'refuse' }), {})
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, '4096', 4096])
  })

  test('decides beside a budget that lowers', async () => {
    const { id, key } = await limited.app.createKey({})
    const own = { limit_usd: 0.3, window: 'month', scope: 'key', scope_ref: id }
    await limited.limit('budgets', own)
    await limited.limit('budgets', { ...own, window: 'day', limit_usd: 100, on_tight: 'refuse' })
    expect((await ask(key, { max_output_tokens: MANY })).code).toBe('budget_exceeded')
  })

  test('lowers again from the next request after a change to cap', async () => {
    const { id, key } = await limited.app.createKey({})
    const own = { limit_usd: 0.3, window: 'month', scope: 'key', scope_ref: id, on_tight: 'refuse' }
    const budget = await limited.limit('budgets', own)
    expect((await ask(key, { max_output_tokens: MANY })).status).toBe(402)
    await limited.app.manage('PATCH', `/v1/budgets/${budget.id}`, { on_tight: 'cap' })
    expect((await ask(key, { max_output_tokens: MANY })).cap).toBe('4096')
  })

  test('admits exactly what fits of concurrent requests, each whole', async () => {
    const key = await keyWith(1, { on_tight: 'refuse' })
    let release: () => void = () => {}
    const open = new Promise<void>(resolve => {
      release = resolve
    })
    const answerWith = completion('hi', {
      usage: { prompt_tokens: 1, completion_tokens: MANY, total_tokens: MANY + 1 },
    })
    limited.upstream.script(async (res, seen) => {
      await open
      await answerWith(res, seen)
    })
    const asking = Array.from({ length: 20 }, () => ask(key, { max_output_tokens: MANY }))
    const refusedFirst = await Promise.race(asking)
    expect(refusedFirst.status).toBe(402)
    release()
    const answers = await Promise.all(asking)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.filter(({ status, code }) => status === 402 && code === 'budget_exceeded')).toHaveLength(
      18,
    )
    expect(answers.every(({ cap }) => cap === null)).toBe(true)
  })
})

test('a maximum that the caller named and that fits nothing is refused, not lowered', async () => {
  expect(await ask(await keyWith(0.04), { max_output_tokens: 1_000 })).toMatchObject({ status: 402 })
})
