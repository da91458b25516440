import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  json,
  type ScriptedUpstream,
  stream,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'

const MODEL = 'custom/read'
const REASONING_MODEL = 'custom/reason'
/** $100 per million input tokens. The request has five: four for the message and one for its two letters. */
const CHAT = { ...PRICED_CHAT, model: MODEL }
const INPUT_USD = 5 * 100e-6
const EMBED = { model: MODEL, input: ['one', 'two words'] }
/** Estimated from the bytes, four per token. */
const EMBED_USD = (1 + 3) * 100e-6

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
  // A provider at an address where no server listens.
  const closed = createServer()
  await new Promise<void>(resolve => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as { port: number }
  await new Promise(resolve => closed.close(resolve))
  await app.addCredential('custom-refused', { api_key: 'k', base_url: `http://127.0.0.1:${port}/v1` })
  for (const model of [MODEL, REASONING_MODEL, 'custom-refused/read']) {
    await limited.make(`/v1/environments/${app.developmentId}/custom-models`, {
      model,
      capabilities: model === REASONING_MODEL ? ['chat', 'reasoning'] : ['chat', 'embeddings'],
      context_window: 100_000,
      max_output_tokens: 10_000,
      pricing: { input_usd_per_mtok: 100, output_usd_per_mtok: 50 },
    })
  }
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

/** Sends a request, and disconnects or cancels it once the provider has it. Returns its budget and its record. */
async function breakOff(route: string, body: object, how: 'disconnects' | 'cancels') {
  const { key, budget } = await limited.freshKey(100)
  const id = crypto.randomUUID()
  let gone: Promise<void> = Promise.resolve()
  const called = new Promise<void>(resolve => {
    upstream.script((_res, seen) => {
      gone = seen.closed
      resolve()
    })
  })
  const abort = new AbortController()
  const call = fetch(app.gatewayUrl + route, {
    method: 'POST',
    signal: abort.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify(body),
  })
  await called
  if (how === 'disconnects') abort.abort()
  else await app.call(`/v1/requests/${id}/cancel`, {}, { key })
  await call.catch(() => {})
  await gone
  return { budget: await budget(), log: await app.findLog(id) }
}

async function fail(answer: UpstreamAnswer, body: object, route = '/v1/chat') {
  const { key, budget } = await limited.freshKey(100)
  const before = upstream.requests.length
  upstream.script(answer)
  const response = await app.call(route, body, { key })
  expect(response.status).toBeGreaterThanOrEqual(400)
  await response.text()
  const attempts = upstream.requests.length - before
  return {
    attempts,
    budget: await budget(),
    log: await app.findLog(response.headers.get('x-request-id') ?? ''),
  }
}

type FailureOutcome = Awaited<ReturnType<typeof fail>>

function expectBilled({ budget, log }: Pick<FailureOutcome, 'budget' | 'log'>, usd: number): void {
  const exact = Math.round(usd * 1e9) / 1e9
  expect(log).toMatchObject({ cost_usd: exact, usage_estimated: true })
  expect(budget).toMatchObject({ spent_usd: exact, reserved_usd: 0 })
}

describe('bills the estimated input of a request that was sent and not answered:', () => {
  test.each<[string, string, object, 'disconnects' | 'cancels', number]>([
    [
      'a stream whose caller disconnects before its first event',
      '/v1/chat',
      { ...CHAT, stream: true },
      'disconnects',
      INPUT_USD,
    ],
    ['embeddings whose caller disconnects', '/v1/embeddings', EMBED, 'disconnects', EMBED_USD],
    ['embeddings that are canceled', '/v1/embeddings', EMBED, 'cancels', EMBED_USD],
  ])('%s', async (_what, route, body, how, usd) => {
    expectBilled(await breakOff(route, body, how), usd)
  })

  const STREAM = { ...CHAT, stream: true }
  test.each<[string, UpstreamAnswer, object]>([
    ['a stream that timed out before its first event', () => {}, { ...STREAM, timeout_ms: 1000 }],
    ['a stream that ended before its first event, for each attempt', cutStream(), STREAM],
    ['a connection that was reset, for each attempt', res => void res.destroy(), CHAT],
  ])(
    '%s',
    async (_what, answer, body) => {
      const seen = await fail(answer, body)
      expectBilled(seen, seen.attempts * INPUT_USD)
      expect(seen.attempts).toBe('timeout_ms' in body ? 1 : 3)
      const abandoned = { lost_cost_usd: INPUT_USD }
      expect(seen.log.attempts).toMatchObject(Array.from({ length: seen.attempts }, () => abandoned))
    },
    30_000,
  )
})

describe('bills what can have been generated unseen until the gateway ended the call:', () => {
  const REASONING = { ...CHAT, model: REASONING_MODEL, stream: true }
  const UNSEEN: [string, object][] = [
    ['a plain one', CHAT],
    ['a stream of a model that reasons', REASONING],
  ]

  describe.each(UNSEEN)('%s', (_what, body) => {
    test.each(['disconnects', 'cancels'] as const)('whose caller %s, at least a token', async how => {
      const seen = await breakOff('/v1/chat', { ...body, max_tokens: 1 }, how)
      expectBilled(seen, INPUT_USD + 50e-6)
    })

    test('whose caller disconnects soon, no more than the time allows', async () => {
      const { log } = await breakOff('/v1/chat', { ...body, max_tokens: 10_000 }, 'disconnects')
      expect(log.usage.output_tokens).toBeGreaterThan(0)
      expect(log.usage.output_tokens).toBeLessThanOrEqual(Math.ceil(log.total_ms / 5))
    })

    test('that timed out, 200 tokens a second', async () => {
      const { log } = await fail(() => {}, { ...body, max_tokens: 10_000, timeout_ms: 1000 })
      expect(log.usage_estimated).toBe(true)
      expect(log.usage.output_tokens).toBeGreaterThanOrEqual(190)
      expect(log.usage.output_tokens).toBeLessThanOrEqual(Math.ceil(log.total_ms / 5))
    })

    test('that timed out, no more than was reserved', async () => {
      const seen = await fail(() => {}, { ...body, max_tokens: 100, timeout_ms: 1000 })
      expectBilled(seen, INPUT_USD + 100 * 50e-6)
    })

    test('that timed out without a limit, no more than the request allows', async () => {
      upstream.script(() => {})
      const response = await app.call('/v1/chat', { ...body, max_tokens: 7, timeout_ms: 1000 })
      await response.text()
      const log = await app.findLog(response.headers.get('x-request-id') ?? '')
      expect(log.usage).toMatchObject({ output_tokens: 7 })
    })
  })

  /** Ends an open stream by its timeout, after one word and silence. Returns its record. */
  async function silence(body: object) {
    const { key } = await limited.freshKey(100)
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'begun' }))
    })
    const response = await app.call('/v1/chat', { ...body, timeout_ms: 1000 }, { key })
    expect(await response.text()).toContain('"code":"timeout"')
    return await app.findLog(response.headers.get('x-request-id') ?? '')
  }

  test('an open stream of a model that reasons, by its time', async () => {
    expect((await silence({ ...REASONING, max_tokens: 120 })).usage).toMatchObject({ output_tokens: 120 })
  })

  test('an open stream of a model that does not reason, by what was delivered', async () => {
    expect((await silence({ ...CHAT, stream: true })).usage).toMatchObject({ output_tokens: 2 })
  })
})

/** The most output costs $50 per million. Three times, since each attempt is charged. */
const RESERVED_USD = 200 * 50e-6

function text(status: number, body: string, type = 'application/json'): UpstreamAnswer {
  return res => void res.writeHead(status, { 'content-type': type }).end(body)
}

/** A body that breaks off in the middle. */
const cutJson: UpstreamAnswer = res => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
  res.write('{"choices":[', () => setImmediate(() => res.destroy()))
}

const ODD = { choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] }

describe('bills the reserved output of a successful answer that cannot be read:', () => {
  test.each<[string, UpstreamAnswer]>([
    ['text that is not JSON', text(200, '{"choices": [{"mess')],
    ['an HTML page', text(200, '<html>hello</html>', 'text/html')],
    ['an empty body', text(200, '')],
    ['one that breaks off', cutJson],
    ['a list', json(200, [ODD])],
    ['choices of a wrong type', json(200, { ...ODD, choices: 'one' })],
    ['no choices', json(200, { id: 'x' })],
    [
      'no choices, and an incredible usage',
      json(200, { usage: { prompt_tokens: -5, completion_tokens: 1 } }),
    ],
  ])(
    '%s',
    async (_what, answer) => {
      const seen = await fail(answer, { ...CHAT, max_tokens: 200 })
      expect(seen.attempts).toBe(3)
      expectBilled(seen, 3 * (INPUT_USD + RESERVED_USD))
    },
    30_000,
  )

  test("bills the usual output of the key's answers once enough of them were seen", async () => {
    const { key, budget } = await limited.freshKey(100)
    const usage = { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 }
    upstream.script(completion('hello', { usage }))
    const ask = { ...CHAT, max_tokens: 200 }
    for (let count = 0; count < 25; count++) await (await app.call('/v1/chat', ask, { key })).text()
    const before = (await budget()).spent_usd
    upstream.script(text(200, 'no'))
    await (await app.call('/v1/chat', ask, { key })).text()
    // Learned lengths grow by 30 %: 10 tokens are learned as 10 or a little more.
    const output = ((await budget()).spent_usd - before) / 3 - INPUT_USD
    expect(output).toBeGreaterThanOrEqual(10 * 50e-6 - 1e-9)
    expect(output).toBeLessThan(14 * 50e-6)
  }, 30_000)

  test('bills the usage that the provider reported if it is credible', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 0, total_tokens: 20 }
    const { budget, log } = await fail(json(200, { choices: [], usage }), CHAT)
    expect(log).toMatchObject({ cost_usd: 0.006 })
    expect(budget).toMatchObject({ spent_usd: 0.006, reserved_usd: 0 })
  }, 30_000)

  test('bills a stream by the bytes that arrived', async () => {
    // 40 bytes, four per token.
    const seen = await fail(text(200, 'x'.repeat(40)), { ...CHAT, stream: true })
    expectBilled(seen, 3 * (INPUT_USD + 10 * 50e-6))
  }, 30_000)

  test('bills a stream by the usage that it had reported', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22 }
    const seen = await fail(cutStream(usageChunk(usage)), { ...CHAT, stream: true })
    expect(seen.log).toMatchObject({ cost_usd: 0.0063 })
    expect(seen.budget).toMatchObject({ spent_usd: 0.0063, reserved_usd: 0 })
  }, 30_000)

  test.each<[string, UpstreamAnswer]>([
    ['embeddings that are not JSON', text(200, '{"data"')],
    ['embeddings with too few vectors', json(200, { data: [] })],
  ])(
    '%s',
    async (_what, answer) => {
      const seen = await fail(answer, EMBED, '/v1/embeddings')
      expectBilled(seen, seen.attempts * EMBED_USD)
    },
    30_000,
  )
})

describe('bills images without an answer at their reservation:', () => {
  const IMAGE = { model: 'openai/dall-e-2', prompt: 'a fox', n: 2 }
  const ROUTE = '/openai/v1/images/generations'
  const USD = 2 * 0.02

  test.each(['disconnects', 'cancels'] as const)('one whose caller %s', async how => {
    expectBilled(await breakOff(ROUTE, IMAGE, how), USD)
  })

  test.each<[string, UpstreamAnswer]>([
    ['a connection that was reset', res => void res.destroy()],
    ['text that is not JSON', text(200, '<html>')],
    ['no image', json(200, { created: 1, data: [] })],
  ])(
    '%s, for each of its attempts',
    async (_what, answer) => {
      const seen = await fail(answer, IMAGE, ROUTE)
      expectBilled(seen, seen.attempts * USD)
    },
    30_000,
  )

  test('bills the abandoned ones of several calls in addition to the answered ones', async () => {
    const { key, budget } = await limited.freshKey(100)
    // One image per call. The second call is abandoned.
    upstream.script(json(200, { data: [{ b64_json: 'QUJD' }] }), res => void res.destroy())
    const response = await app.call(ROUTE, { model: 'openai/dall-e-3', prompt: 'a fox', n: 2 }, { key })
    expect(response.status).toBe(200)
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ cost_usd: 0.08, usage_estimated: true })
    expect(await budget()).toMatchObject({ spent_usd: 0.08, reserved_usd: 0 })
  })

  test('bills nothing for an error that the provider reports', async () => {
    const { budget } = await fail(json(400, { error: { message: 'no' } }), IMAGE, ROUTE)
    expect(budget).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
  })
})

describe('if another attempt answers', () => {
  test('bills the abandoned attempt too: the record has the sum, the answer its own cost', async () => {
    const { key, budget } = await limited.freshKey(100)
    const usage = { prompt_tokens: 20, completion_tokens: 0, total_tokens: 20 }
    upstream.script(res => void res.destroy(), completion('', { usage }))
    const response = await app.call('/v1/chat', CHAT, { key })
    expect(await response.json()).toMatchObject({ usage: { input_tokens: 20 }, cost_usd: 0.002 })
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ cost_usd: 0.0025, usage_estimated: true, usage: { input_tokens: 25 } })
    expect(log).toMatchObject({ attempts: [{ lost_cost_usd: 0.0005 }, { lost_cost_usd: null }] })
    expect(await budget()).toMatchObject({ spent_usd: 0.0025, reserved_usd: 0 })
  })

  test('makes the second attempt only if the limits have room for both', async () => {
    // Input costs 0.0005 and output 0.01. The budget allows one reservation, not two.
    const { key, budget } = await limited.freshKey(0.0205)
    const before = upstream.requests.length
    upstream.script(text(200, 'no'), completion('hello'))
    const response = await app.call('/v1/chat', { ...CHAT, max_tokens: 200 }, { key })
    expect(response.status).toBeGreaterThanOrEqual(500)
    expect(upstream.requests.length - before).toBe(1)
    expect(await budget()).toMatchObject({ spent_usd: 0.0105, reserved_usd: 0 })
  })

  test('bills an abandoned attempt at a paid provider although the sandbox answers', async () => {
    const { key, budget } = await limited.freshKey(100)
    await limited.make(`/v1/environments/${app.developmentId}/model-aliases`, {
      alias: 'then-sandbox',
      strategy: 'priority',
      targets: [{ model: MODEL, max_retries: 0 }, { model: 'sandbox/echo' }],
    })
    upstream.script(res => void res.destroy())
    const response = await app.call('/v1/chat', { ...CHAT, model: 'then-sandbox' }, { key })
    expect([response.status, response.headers.get('x-rideau-model')]).toEqual([200, 'sandbox/echo'])
    expect(await budget()).toMatchObject({ spent_usd: 0.0005, reserved_usd: 0 })
  })
})

describe('bills nothing', () => {
  const REFUSED = { ...CHAT, model: 'custom-refused/read' }
  const REPORT = { error: { message: 'no', type: 'server_error' } }
  test.each<[string, UpstreamAnswer, object]>([
    ['for an error status', json(400, REPORT), CHAT],
    ['for an error status after retries', json(500, REPORT), CHAT],
    [
      'for an error event in a stream',
      stream(`data: ${JSON.stringify(REPORT)}\n\n`),
      { ...CHAT, stream: true },
    ],
    ['for an unreachable provider', () => {}, REFUSED],
    ['for an unreachable provider, of a stream', () => {}, { ...REFUSED, stream: true }],
  ])(
    '%s',
    async (_what, answer, body) => {
      const { budget, log } = await fail(answer, body)
      expect(log).toMatchObject({ cost_usd: 0 })
      expect(budget).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
    },
    30_000,
  )

  test('for embeddings that the provider rejects', async () => {
    const { budget } = await fail(json(400, REPORT), EMBED, '/v1/embeddings')
    expect(budget).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
  })
})
