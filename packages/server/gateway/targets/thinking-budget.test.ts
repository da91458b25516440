import { afterAll, beforeAll, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** With interleaved thinking Claude takes a budget above the cap of output, and the cap is what is reserved. */

const SONNET = 'anthropic/claude-sonnet-4-5'
const ON_BEDROCK = encodeURIComponent('bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0')
const BETA = 'interleaved-thinking-2025-05-14'
const HI = [{ role: 'user', content: 'hi' }]
const ROUTE = '/anthropic/v1/messages'
const CONVERSE = `/bedrock/model/${ON_BEDROCK}/converse`

const thinking = (budget_tokens: number): object => ({ type: 'enabled', budget_tokens })
const messages = (max_tokens: number, budget: number): object => ({
  model: SONNET,
  max_tokens,
  messages: HI,
  thinking: thinking(budget),
  tools: [{ name: 't', input_schema: { type: 'object' } }],
})
const converse = (maxTokens: number | undefined, budget: number): object => ({
  messages: [{ role: 'user', content: [{ text: 'hi' }] }],
  inferenceConfig: { maxTokens },
  additionalModelRequestFields: { anthropic_beta: [BETA], thinking: thinking(budget) },
})

let limited: LimitedApp
let key: string
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'bedrock')
  key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 2 } })).key
})
afterAll(() => limited.close())

async function ask(route: string, body: object) {
  const before = limited.upstream.requests.length
  limited.upstream.script(message([{ type: 'text', text: 'x' }]))
  const response = await limited.app.call(route, body, { key, headers: { 'anthropic-beta': BETA } })
  await response.text()
  const sent = limited.upstream.requests.at(before)?.body
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
  expect([sent === undefined || 'thinking' in (sent as object), dropped]).toEqual([false, 'thinking'])
})

test("a budget above the model's own maximum is refused where no cap is sent", async () => {
  expect(await ask(CONVERSE, converse(undefined, 190_000))).toMatchObject({ status: 400, sent: undefined })
})

test("a budget above the cap in the provider's options is refused", async () => {
  const options = { anthropic: { thinking: thinking(190_000) } }
  const body = { model: SONNET, max_output_tokens: 64, messages: HI, provider_options: options }
  expect(await ask('/v1/chat', body)).toMatchObject({ status: 400, sent: undefined })
})
