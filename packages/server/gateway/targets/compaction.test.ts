import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** Compaction runs the model once more on all of the conversation, wherever a body asks for it. */

const HI = [{ role: 'user', content: 'hi' }]
const CONVERSE_MODEL = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const CONVERSE = `/bedrock/model/${encodeURIComponent(CONVERSE_MODEL)}/converse`
const CHAT = '/openai/v1/chat/completions'
const RESPONSES = '/openai/v1/responses'
const OF_CLAUDE = { edits: [{ type: 'compact_20260112' }] }
const OF_OPENAI = [{ type: 'compaction', compact_threshold: 1_000 }]
const NANO = { model: 'openai/gpt-5-nano', input: 'hi', max_output_tokens: 64 }
const GROQ = { model: 'groq/llama-3.3-70b-versatile', max_tokens: 64, messages: HI }

type Case = [string, string, object]

const byOptions = (model: string, provider: string, fields: object): object => ({
  model,
  max_output_tokens: 64,
  messages: HI,
  provider_options: { [provider]: fields },
})
const converse = (additionalModelRequestFields: object): object => ({
  messages: [{ role: 'user', content: [{ text: 'hi' }] }],
  inferenceConfig: { maxTokens: 64 },
  additionalModelRequestFields,
})
const CLAUDE = 'anthropic/claude-sonnet-4-6'

const COMPACTIONS: Case[] = [
  ['options of Anthropic', '/v1/chat', byOptions(CLAUDE, 'anthropic', { context_management: OF_CLAUDE })],
  [
    'options of Bedrock',
    '/v1/chat',
    byOptions(CONVERSE_MODEL, 'bedrock', {
      additionalModelRequestFields: {
        anthropic_beta: ['compact-2026-01-12'],
        context_management: OF_CLAUDE,
      },
    }),
  ],
  [
    'options of OpenAI',
    '/v1/chat',
    byOptions('openai/gpt-5-nano', 'openai', { context_management: OF_OPENAI }),
  ],
  ["Converse's fields of the model", CONVERSE, converse({ context_management: OF_CLAUDE })],
  ['another case of letters', CONVERSE, converse({ contextManagement: OF_CLAUDE })],
  ['Responses', RESPONSES, { ...NANO, context_management: OF_OPENAI }],
  ['an object of its own', RESPONSES, { ...NANO, context_management: { compact: true } }],
  ['chat completions', CHAT, { ...GROQ, context_management: OF_OPENAI }],
  ['an unknown object', CHAT, { ...GROQ, extra_body: { context_management: OF_OPENAI } }],
  [
    'JSON in a text',
    CHAT,
    { ...GROQ, extra_body: JSON.stringify({ context_management: JSON.stringify(OF_OPENAI) }) },
  ],
]

const OTHERS: Case[] = [
  ['an empty list', RESPONSES, { ...NANO, context_management: [] }],
  [
    'edits that clear',
    '/anthropic/v1/messages',
    {
      model: CLAUDE,
      max_tokens: 64,
      messages: HI,
      context_management: {
        edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'clear_thinking_20251015' }],
      },
    },
  ],
  [
    'instructions that are JSON',
    RESPONSES,
    { ...NANO, instructions: JSON.stringify({ context_management: OF_OPENAI }) },
  ],
  [
    'a schema of an answer',
    CHAT,
    { ...GROQ, guided_json: { type: 'object', properties: { context_management: { type: 'string' } } } },
  ],
  [
    'a parameter of a tool that is called so',
    '/anthropic/v1/messages',
    {
      model: CLAUDE,
      max_tokens: 64,
      messages: HI,
      tools: [{ name: 't', input_schema: { type: 'object', properties: { context_management: OF_CLAUDE } } }],
    },
  ],
]

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'openai', 'groq', 'bedrock')
})
afterAll(() => limited.close())

const ask = (route: string, body: object, key: string) => limited.ask(route, body, key)

describe('a key with max_request_cost_usd', () => {
  let key: string
  beforeAll(async () => {
    key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.05 } })).key
  })

  test.each(COMPACTIONS)('is refused compaction with 400, in %s: %s', async (_what, route, body) => {
    const answer = await ask(route, body, key)
    expect(answer).toMatchObject({ status: 400, wasSent: false })
    expect(answer.text).toContain('adds input that cannot be counted in advance')
  })

  test.each(OTHERS)('may send what runs no model, such as %s: %s', async (_what, route, body) => {
    expect(await ask(route, body, key)).toMatchObject({ wasSent: true })
  })
})

test.each(COMPACTIONS)('reserves two context windows of a budget, in %s: %s', async (_what, route, body) => {
  const { key } = await limited.freshKey(0.01)
  expect(await ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
})
