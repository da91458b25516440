import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestHouse } from '../testing/house.ts'
import { ASK, type LimitedHouse, openLimitedHouse } from '../testing/limited-house.ts'
import {
  completion,
  cutStream,
  json,
  type ScriptedUpstream,
  stream,
  type UpstreamAnswer,
} from '../testing/scripted-upstream.ts'

const MODEL = 'custom/read'
/** $100 per million tokens of input, of which there are five: four a message, and one for its two letters. */
const CHAT = { ...ASK, model: MODEL }
const INPUT_USD = 5 * 100e-6
const EMBED = { model: MODEL, input: ['one', 'two words'] }
/** By their bytes, four a token. */
const EMBED_USD = (1 + 3) * 100e-6

let limited: LimitedHouse
let house: TestHouse
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedHouse()
  ;({ house, upstream } = limited)
  // A provider behind an address where nobody listens.
  const closed = createServer()
  await new Promise<void>(resolve => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as { port: number }
  await new Promise(resolve => closed.close(resolve))
  await house.addCredential('custom-refused', { api_key: 'k', base_url: `http://127.0.0.1:${port}/v1` })
  for (const model of [MODEL, 'custom-refused/read']) {
    await limited.make(`/v1/environments/${house.developmentId}/custom-models`, {
      model,
      capabilities: ['chat', 'embeddings'],
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

/** Sends it, and leaves or cancels as soon as the provider has it. Gives what its budget and its record say then. */
async function breakOff(route: string, body: object, how: 'leaves' | 'cancels') {
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
  const call = fetch(house.gatewayUrl + route, {
    method: 'POST',
    signal: abort.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify(body),
  })
  await called
  if (how === 'leaves') abort.abort()
  else await house.call(`/v1/requests/${id}/cancel`, {}, { key })
  await call.catch(() => {})
  await gone
  return { budget: await budget(), log: await house.findLog(id) }
}

async function fail(answer: UpstreamAnswer, body: object, route = '/v1/chat') {
  const { key, budget } = await limited.freshKey(100)
  upstream.script(answer)
  const response = await house.call(route, body, { key })
  expect(response.status).toBeGreaterThanOrEqual(400)
  await response.text()
  return { budget: await budget(), log: await house.findLog(response.headers.get('x-request-id') ?? '') }
}

type Seen = Awaited<ReturnType<typeof fail>>

function expectBilled({ budget, log }: Seen, usd: number): void {
  expect(log).toMatchObject({ cost_usd: usd, usage_estimated: true })
  expect(budget).toMatchObject({ spent_usd: usd, reserved_usd: 0 })
}

describe('its input is billed, as an estimate, of a request that had left and was not answered:', () => {
  test.each<[string, string, object, 'leaves' | 'cancels', number]>([
    ['a plain one whose caller leaves', '/v1/chat', CHAT, 'leaves', INPUT_USD],
    ['a plain one that is cancelled', '/v1/chat', CHAT, 'cancels', INPUT_USD],
    ['a stream left before its first event', '/v1/chat', { ...CHAT, stream: true }, 'leaves', INPUT_USD],
    ['embeddings whose caller leaves', '/v1/embeddings', EMBED, 'leaves', EMBED_USD],
    ['embeddings that are cancelled', '/v1/embeddings', EMBED, 'cancels', EMBED_USD],
  ])('%s', async (_what, route, body, how, usd) => {
    expectBilled(await breakOff(route, body, how), usd)
  })

  const STREAM = { ...CHAT, stream: true }
  test.each<[string, UpstreamAnswer, object]>([
    ['a plain one that timed out', () => {}, { ...CHAT, timeout_ms: 1000 }],
    ['a stream that timed out before its first event', () => {}, { ...STREAM, timeout_ms: 1000 }],
    ['a stream that ended before its first event', cutStream(), STREAM],
    ['a connection that was reset', res => void res.destroy(), CHAT],
  ])(
    '%s',
    async (_what, answer, body) => {
      expectBilled(await fail(answer, body), INPUT_USD)
    },
    30_000,
  )
})

describe('nothing is billed', () => {
  const REFUSED = { ...CHAT, model: 'custom-refused/read' }
  const WORD = { error: { message: 'no', type: 'server_error' } }
  test.each<[string, UpstreamAnswer, object]>([
    ['of an error status', json(400, WORD), CHAT],
    ['of an error status after retries', json(500, WORD), CHAT],
    ['of an error told in a stream', stream(`data: ${JSON.stringify(WORD)}\n\n`), { ...CHAT, stream: true }],
    ['where nobody could be reached', () => {}, REFUSED],
    ['where nobody could be reached, of a stream', () => {}, { ...REFUSED, stream: true }],
  ])(
    '%s',
    async (_what, answer, body) => {
      const { budget, log } = await fail(answer, body)
      expect(log).toMatchObject({ cost_usd: 0 })
      expect(budget).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
    },
    30_000,
  )

  test('of embeddings that are refused', async () => {
    const { budget } = await fail(json(400, WORD), EMBED, '/v1/embeddings')
    expect(budget).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
  })

  test('besides the answer, where another try has one', async () => {
    const { key, budget } = await limited.freshKey(100)
    const usage = { prompt_tokens: 20, completion_tokens: 0, total_tokens: 20 }
    upstream.script(res => void res.destroy(), completion('hello', { usage }))
    expect((await house.call('/v1/chat', CHAT, { key })).status).toBe(200)
    expect(await budget()).toMatchObject({ spent_usd: 0.002, reserved_usd: 0 })
  })
})
