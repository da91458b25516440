import { afterAll, beforeAll, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** A beta of Claude raises the context window, on which reservations, bounds and the belief in usage rest. */

const PDF = btoa('%PDF-1.7 x')
const DOCUMENT = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }
const MESSAGES = [{ role: 'user', content: [DOCUMENT] }]
const SONNET = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 64, messages: MESSAGES }
const ON_BEDROCK = encodeURIComponent('bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0')
const BETA = 'context-1m-2025-08-07'
const CONVERSED = {
  messages: [
    {
      role: 'user',
      content: [{ text: 'a' }, { document: { format: 'pdf', name: 'n', source: { bytes: PDF } } }],
    },
  ],
  inferenceConfig: { maxTokens: 64 },
}

type Case = [string, string, object, string | undefined]
const ROUTE = '/anthropic/v1/messages'

const LONG: Case[] = [
  ['a header', ROUTE, SONNET, `fine-grained-tool-streaming-2025-05-14, ${BETA}`],
  ['the body', ROUTE, { ...SONNET, betas: [BETA] }, undefined],
  [
    "Converse's fields of the model",
    `/bedrock/model/${ON_BEDROCK}/converse`,
    { ...CONVERSED, additionalModelRequestFields: { anthropic_beta: [BETA] } },
    undefined,
  ],
  [
    'a body of InvokeModel',
    `/bedrock/model/${ON_BEDROCK}/invoke`,
    { anthropic_version: 'bedrock-2023-05-31', max_tokens: 64, messages: MESSAGES, anthropic_beta: [BETA] },
    undefined,
  ],
]

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'bedrock', 'openai')
})
afterAll(() => limited.close())

const ask = (route: string, body: object, key: string, beta: string | undefined) =>
  limited.ask(route, body, key, beta === undefined ? {} : { 'anthropic-beta': beta })

const boundTo = async (usd: number): Promise<string> =>
  (await limited.app.createKey({ restrictions: { max_request_cost_usd: usd } })).key

test.each(LONG)('a packed file counts a million tokens with it in %s', async (_what, route, body, beta) => {
  // A million tokens at $7.50 a million, on Bedrock $8.25, as if all were written to a cache.
  expect(await ask(route, body, await boundTo(7.4), beta)).toMatchObject({ status: 402, wasSent: false })
  expect(await ask(route, body, await boundTo(8.4), beta)).toMatchObject({ wasSent: true })
  const { key } = await limited.freshKey(5.9)
  expect(await ask(route, body, key, beta)).toMatchObject({ status: 402, wasSent: false })
})

test('a model whose window the beta does not raise keeps its own', async () => {
  // 200,000 tokens at $1.25 a million.
  const haiku = { ...SONNET, model: 'anthropic/claude-haiku-4-5' }
  expect(await ask(ROUTE, haiku, await boundTo(0.3), BETA)).toMatchObject({ wasSent: true })
  // 128,000 tokens at $0.15 a million.
  const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }
  const messages = [{ role: 'user', content: [{ type: 'file', file }] }]
  const mini = { model: 'openai/gpt-4o-mini', max_tokens: 64, messages, betas: [BETA] }
  expect(await ask('/openai/v1/chat/completions', mini, await boundTo(0.03), BETA)).toMatchObject({
    wasSent: true,
  })
})

test('a Claude that the catalogue does not list counts a million tokens', async () => {
  const model = 'anthropic/claude-novel-9'
  await limited.make(`/v1/environments/${limited.app.developmentId}/custom-models`, {
    model,
    capabilities: ['chat', 'vision'],
    context_window: 200_000,
    max_output_tokens: 8_000,
    pricing: { input_usd_per_mtok: 3, output_usd_per_mtok: 15 },
  })
  const body = { ...SONNET, model }
  expect(await ask(ROUTE, body, await boundTo(1), undefined)).toMatchObject({ wasSent: true })
  expect(await ask(ROUTE, body, await boundTo(1), BETA)).toMatchObject({ status: 402, wasSent: false })
})

test('other betas leave the window as it is', async () => {
  const others =
    'context-management-2025-06-27,interleaved-thinking-2025-05-14,model-context-window-exceeded-2025-08-26'
  // 200,000 tokens at $3.75 a million.
  expect(await ask(ROUTE, SONNET, await boundTo(0.8), others)).toMatchObject({ wasSent: true })
})

test('the usage of a long context is billed whole', async () => {
  const usage = { input_tokens: 900_000, output_tokens: 10 }
  limited.upstream.script(message([{ type: 'text', text: 'x' }], { usage }))
  const { key, budget } = await limited.freshKey(10)
  expect(await ask(ROUTE, SONNET, key, BETA)).toMatchObject({ status: 200 })
  expect((await budget()).spent_usd).toBeCloseTo(5.400225, 6)
})
