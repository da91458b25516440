import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunk, completion, DONE, json, stream, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'

/** A request that names no maximum, with less left than the 4,096 tokens that it is capped to otherwise. */

let limited: LimitedApp
/** Of PRICED, and of a model at a tenth of its price. */
const ALIAS = 'fitted'
/** Of PRICED, and of a cheaper model that reasons, whose answers have 1,024 tokens at least. */
const WITH_THINKER = 'with-thinker'
/** Of all three. */
const ALL = 'all'
/** Of the model that reasons, and of one that does not, whose input is dear. */
const WITH_DEAR_INPUT = 'with-dear-input'
beforeAll(async () => {
  limited = await openLimitedApp()
  const environment = `/v1/environments/${limited.app.developmentId}`
  for (const [model, capabilities, input, output] of [
    ['custom/cheap', ['chat'], 0, 5],
    ['custom/thinker', ['chat', 'reasoning'], 0, 1],
    ['custom/dear-input', ['chat'], 1_000, 50],
  ] as const)
    await limited.make(`${environment}/custom-models`, {
      ...{ model, capabilities, context_window: 100_000, max_output_tokens: 10_000 },
      pricing: { input_usd_per_mtok: input, output_usd_per_mtok: output },
    })
  for (const [alias, ...models] of [
    [ALIAS, PRICED, 'custom/cheap'],
    [WITH_THINKER, PRICED, 'custom/thinker'],
    [ALL, PRICED, 'custom/cheap', 'custom/thinker'],
    [WITH_DEAR_INPUT, 'custom/dear-input', 'custom/thinker'],
  ]) {
    const targets = models.map(model => ({ model, max_retries: 0 }))
    await limited.make(`${environment}/model-aliases`, { alias, strategy: 'priority', targets })
  }
})
afterAll(() => limited.close())
beforeEach(async () => {
  await limited.reset()
  use(10)
})

/** From here on answers use so many output tokens. */
function use(output: number): void {
  const usage = { prompt_tokens: 1, completion_tokens: output, total_tokens: output + 1 }
  limited.upstream.script(completion('hello', { usage }))
}

/** Returns a key with these limits of its own. */
async function keyWith(limits: { [Kind in 'quotas' | 'budgets' | 'limits']?: object }): Promise<string> {
  const { id, key } = await limited.app.createKey({})
  for (const [kind, rule] of Object.entries(limits)) {
    const window = kind === 'limits' ? { window_seconds: 60 } : { window: 'month' }
    await limited.limit(kind as 'quotas', { ...window, scope: 'key', scope_ref: id, ...rule })
  }
  return key
}
const quota = (limit: number) => ({ quotas: { metric: 'tokens', limit } })
const rate = (limit: number) => ({ limits: { metric: 'tokens', limit } })

async function ask(key: string, fields: object = {}) {
  const body = { model: PRICED, messages: [{ role: 'user', content: 'hi' }], ...fields }
  const response = await limited.app.call('/v1/chat', body, { key })
  const text = await response.text()
  const error = response.status === 200 ? undefined : JSON.parse(text).error
  return {
    status: response.status,
    cap: response.headers.get('x-rideau-output-cap'),
    wait: Number(response.headers.get('retry-after')),
    final: response.headers.get('x-should-retry'),
    requestId: response.headers.get('x-request-id') as string,
    code: error?.code,
    message: error?.message,
    text,
  }
}

/** The body that the provider got last. */
const sent = () => limited.upstream.requests.at(-1)?.body
const sentCap = () => sent()?.max_completion_tokens ?? sent()?.max_tokens
const NEVER = 'a retry fails too'

describe('a request that names no maximum, with less left than 4,096 tokens,', () => {
  test('gets what a quota has left, and is refused once that is too little for an answer', async () => {
    const key = await keyWith(quota(1_000))
    const answer = await ask(key)
    expect(answer.status).toBe(200)
    expect(Number(answer.cap)).toBeGreaterThan(900)
    expect(sentCap()).toBe(Number(answer.cap))
    use(960)
    expect((await ask(key)).status).toBe(200)
    expect(await ask(key)).toMatchObject({ status: 429, code: 'quota_exceeded' })
  })

  test('is refused with the least that would be served, which the next window serves', async () => {
    const key = await keyWith({ ...quota(1_000), budgets: { limit_usd: 100 } })
    use(990)
    expect((await ask(key)).status).toBe(200)
    const { message } = await ask(key)
    expect(message).toMatch(/limit 1000, settled 991, held 0, wanted \d\d; will reset at/)
    expect(message).not.toContain(NEVER)
  })

  test('is told that no retry helps where the limit is too small for any answer', async () => {
    expect((await ask(await keyWith(quota(10)))).message).toContain(NEVER)
    expect((await ask(await keyWith({ budgets: { limit_usd: 0.000_1 } }))).message).toContain(NEVER)
  })

  test('gets what a budget has left, to the token', async () => {
    // $0.005 are 100 tokens of output, less the input.
    const answer = await ask(await keyWith({ budgets: { limit_usd: 0.005 } }))
    expect(answer.status).toBe(200)
    expect(Number(answer.cap)).toBeGreaterThan(90)
    expect(Number(answer.cap)).toBeLessThanOrEqual(100)
    const tooSmall = await keyWith({ budgets: { limit_usd: 0.0005 } })
    expect(await ask(tooSmall)).toMatchObject({ status: 402, code: 'budget_exceeded' })
  })

  test('gets the least that several limits have left', async () => {
    const answer = await ask(await keyWith({ ...quota(1_000), budgets: { limit_usd: 0.01 } }))
    expect(answer.status).toBe(200)
    expect(Number(answer.cap)).toBeLessThanOrEqual(200)
  })

  test('is streamed with what is left reserved, and cut there, without a lower cap', async () => {
    const key = await keyWith(quota(500))
    const words = Array.from({ length: 100 }, () =>
      chunk({ content: ' eight words that make up ten tokens or so' }),
    )
    limited.upstream.script(stream(...words, chunk({}, 'stop'), usageChunk(), DONE))
    const answer = await ask(key, { stream: true })
    expect([answer.status, answer.cap, sentCap()]).toEqual([200, null, 10_000])
    expect(answer.text).toContain('"finish_reason":"length"')
    const { usage, error_code } = await limited.app.findLog(answer.requestId)
    expect(error_code).toBe('budget_exceeded')
    expect(usage.output_tokens).toBeGreaterThan(300)
    expect(usage.total_tokens).toBeLessThanOrEqual(500)
  })
})

describe('a limit of a rolling window', () => {
  test('that the whole reservation fits later answers 429, and keeps the answer whole', async () => {
    const key = await keyWith(rate(5_000))
    use(4_000)
    expect((await ask(key)).status).toBe(200)
    expect(await ask(key)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  })

  test('that is smaller gives what it has left, down to half of it, and then a 429 that a retry helps', async () => {
    const key = await keyWith(rate(1_000))
    use(400)
    expect((await ask(key)).status).toBe(200)
    const second = await ask(key)
    expect([second.status, Number(second.cap) > 500 && Number(second.cap) < 600]).toEqual([200, true])
    const refused = await ask(key)
    expect(refused).toMatchObject({ status: 429, final: null, message: expect.not.stringContaining(NEVER) })
    expect(refused.wait).toBeLessThanOrEqual(60)
    expect(refused.message).toMatch(/settled 802, held 0, wanted 500;/)
  })
})

describe('an alias whose request names no maximum', () => {
  test('is answered by its first target within a small limit on tokens, and by the next if that fails', async () => {
    const key = await keyWith(quota(1_000))
    const answer = await ask(key, { model: ALIAS })
    expect([answer.status, sent()?.model]).toEqual([200, 'priced'])
    expect(sentCap()).toBe(Number(answer.cap))
    const seen = limited.upstream.requests.length
    limited.upstream.script(json(503, {}), completion('hello'))
    expect((await ask(key, { model: ALIAS })).status).toBe(200)
    expect(limited.upstream.requests.slice(seen).map(({ body }) => body.model)).toEqual(['priced', 'cheap'])
  })

  test('keeps to the targets that a small budget allows the most output', async () => {
    const key = await keyWith({ ...quota(1_000), budgets: { limit_usd: 0.005 } })
    const answer = await ask(key, { model: ALIAS })
    expect([answer.status, sent()?.model, Number(answer.cap) > 900]).toEqual([200, 'cheap', true])
  })

  test('keeps to the targets that do not reason where too little is left for reasoning', async () => {
    const key = await keyWith(quota(1_000))
    const answer = await ask(key, { model: WITH_THINKER })
    expect([answer.status, sent()?.model, Number(answer.cap) > 900]).toEqual([200, 'priced', true])
    use(990)
    expect((await ask(key, { model: WITH_THINKER })).status).toBe(200)
    const refused = await ask(key, { model: WITH_THINKER })
    expect(refused).toMatchObject({ status: 429, code: 'quota_exceeded' })
    expect(refused.message).not.toContain(NEVER)
  })

  test('keeps to the cheapest of them where a budget is too small for reasoning', async () => {
    // $0.001 are 1,000 tokens of the model that reasons, 200 of the cheap one and 20 of the other.
    const answer = await ask(await keyWith({ budgets: { limit_usd: 0.001 } }), { model: ALL })
    expect([answer.status, sent()?.model]).toEqual([200, 'cheap'])
    expect(Number(answer.cap)).toBeGreaterThan(190)
    expect(Number(answer.cap)).toBeLessThanOrEqual(200)
  })

  test('is refused with the wait for reasoning where a budget never serves those that do not reason', async () => {
    // $0.002 are 2,000 tokens of the model that reasons, and less than the input of the other.
    const key = await keyWith({ budgets: { limit_usd: 0.002 } })
    use(1_500)
    expect((await ask(key, { model: WITH_DEAR_INPUT })).status).toBe(200)
    const refused = await ask(key, { model: WITH_DEAR_INPUT })
    expect(refused).toMatchObject({ status: 402, code: 'budget_exceeded' })
    expect(refused.message).not.toContain(NEVER)
  })
})
