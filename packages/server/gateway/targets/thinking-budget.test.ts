import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** With interleaved thinking Claude takes a budget above the cap of output, and the cap is what is reserved. */

const SONNET = 'anthropic/claude-sonnet-4-5'
const ON_BEDROCK = encodeURIComponent('bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0')
const BETA = 'interleaved-thinking-2025-05-14'
const HI = [{ role: 'user', content: 'hi' }]
const ROUTE = '/anthropic/v1/messages'
const CONVERSE = `/bedrock/model/${ON_BEDROCK}/converse`

/** An answer that is read in either format. */
const ANSWER = {
  type: 'message',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: 'end_turn',
  output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
  stopReason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}

const thinking = (budget_tokens: number): object => ({ type: 'enabled', budget_tokens })
const messages = (max_tokens: number, budget: number): object => ({
  model: SONNET,
  max_tokens,
  messages: HI,
  thinking: thinking(budget),
  tools: [{ name: 't', input_schema: { type: 'object' } }],
})
const converseBy = (maxTokens: number | undefined, field: string, budget: number): object => ({
  messages: [{ role: 'user', content: [{ text: 'hi' }] }],
  inferenceConfig: { maxTokens },
  additionalModelRequestFields: { anthropic_beta: [BETA], [field]: thinking(budget) },
})
const converse = (maxTokens: number | undefined, budget: number): object =>
  converseBy(maxTokens, 'thinking', budget)

let limited: LimitedApp
let key: string
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'bedrock')
  key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 2 } })).key
})
afterAll(() => limited.close())

/** What is looked at of a sent body, in either format. */
interface SentBody {
  readonly max_tokens?: number
  readonly inferenceConfig?: { readonly maxTokens: number }
  readonly thinking?: { readonly budget_tokens: number }
  readonly additionalModelRequestFields?: { readonly reasoning_config?: { readonly budget_tokens: number } }
}

async function ask(route: string, body: object, by = key) {
  const before = limited.upstream.requests.length
  limited.upstream.script(json(200, ANSWER))
  const response = await limited.app.call(route, body, { key: by, headers: { 'anthropic-beta': BETA } })
  await response.text()
  const sent = limited.upstream.requests.at(before)?.body as SentBody | undefined
  return { status: response.status, sent, dropped: response.headers.get('x-rideau-dropped-params') }
}

test('a budget above the cap is lowered to half of the cap', async () => {
  expect(await ask(ROUTE, messages(8_000, 190_000))).toMatchObject({ sent: { thinking: thinking(4_000) } })
  expect(await ask(CONVERSE, converse(8_000, 190_000))).toMatchObject({
    sent: { additionalModelRequestFields: { thinking: thinking(4_000) } },
  })
})

test('a budget within the cap is sent as it is', async () => {
  expect(await ask(ROUTE, messages(8_000, 6_000))).toMatchObject({ sent: { thinking: thinking(6_000) } })
  expect(await ask(CONVERSE, converse(undefined, 60_000))).toMatchObject({
    sent: { additionalModelRequestFields: { thinking: thinking(60_000) } },
  })
})

test('a cap without room for thinking is sent without it, and the header names it', async () => {
  const { sent, dropped } = await ask(ROUTE, messages(64, 190_000))
  expect([sent === undefined || 'thinking' in sent, dropped]).toEqual([false, 'thinking'])
})

test("a budget above the model's own maximum is refused where no cap is sent", async () => {
  expect(await ask(CONVERSE, converse(undefined, 190_000))).toMatchObject({ status: 400, sent: undefined })
})

describe('a budget in the options of a provider', () => {
  const ON_BEDROCK_ID = decodeURIComponent(ON_BEDROCK)
  const byOptions = (max_output_tokens: number, model: string, fields: object): object => ({
    model,
    max_output_tokens,
    messages: HI,
    provider_options: { [model.split('/')[0] as string]: fields },
  })
  const inAnthropic = (cap: number) => byOptions(cap, SONNET, { thinking: thinking(190_000) })
  const inBedrock = (cap: number) =>
    byOptions(cap, ON_BEDROCK_ID, { additionalModelRequestFields: { reasoning_config: thinking(190_000) } })

  test('is lowered to half of the cap', async () => {
    expect(await ask('/v1/chat', inAnthropic(8_000))).toMatchObject({ sent: { thinking: thinking(4_000) } })
    expect(await ask('/v1/chat', inBedrock(8_000))).toMatchObject({
      sent: { additionalModelRequestFields: { reasoning_config: thinking(4_000) } },
    })
  })

  test('is left out and named where the cap leaves no room', async () => {
    const { sent, ...rest } = await ask('/v1/chat', inAnthropic(64))
    expect([sent === undefined || 'thinking' in sent, rest]).toEqual([
      false,
      { status: 200, dropped: 'thinking' },
    ])
    const onBedrock = await ask('/v1/chat', inBedrock(64))
    expect(onBedrock).toMatchObject({
      sent: { additionalModelRequestFields: {} },
      dropped: 'additionalModelRequestFields.reasoning_config',
    })
  })
})

test.each<[string, string, object]>([
  ["Anthropic's format", ROUTE, messages(20_000, 16_000)],
  ['the fields of a model', CONVERSE, converseBy(20_000, 'reasoning_config', 16_000)],
  [
    'options',
    '/v1/chat',
    {
      model: SONNET,
      max_output_tokens: 20_000,
      messages: HI,
      provider_options: { anthropic: { thinking: thinking(16_000) } },
    },
  ],
])('a cap that the gateway lowers lowers the budget too: %s', async (_where, route, body) => {
  const { key: limitedKey } = await limited.freshKey(0.2)
  const { status, sent } = await ask(route, body, limitedKey)
  const cap = sent?.max_tokens ?? sent?.inferenceConfig?.maxTokens ?? 0
  const budget = sent?.thinking ?? sent?.additionalModelRequestFields?.reasoning_config
  expect([status, cap > 0, cap < 16_000]).toEqual([200, true, true])
  expect(budget?.budget_tokens).toBe(Math.floor(cap / 2))
})
