import { afterAll, beforeAll, expect, test } from 'vitest'
import { completion } from '../../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../../testing/harness/format-harness.ts'

/** How hard callers of Anthropic's and Bedrock's formats ask a model of OpenAI's format to think. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const schema = { type: 'object', properties: {} }

type ToRequest = (model: string, thinking: object, temperature?: number) => [route: string, body: object]

const MESSAGES: ToRequest = (model, thinking, temperature) => [
  '/anthropic/v1/messages',
  {
    model,
    max_tokens: 99,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'now', input_schema: schema }],
    ...thinking,
    temperature,
  },
]

const CONVERSE: ToRequest = (model, thinking, temperature) => [
  `/bedrock/model/${encodeURIComponent(model)}/converse`,
  {
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: { tools: [{ toolSpec: { name: 'now', inputSchema: { json: schema } } }] },
    inferenceConfig: { maxTokens: 99, temperature },
    additionalModelRequestFields: thinking,
  },
]

const OFF = { thinking: { type: 'disabled' } }
const MAX = { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }

test.each<[string, ToRequest]>([
  ['Messages', MESSAGES],
  ['Converse', CONVERSE],
])('a caller of %s asks a model for the nearest effort that it takes', async (_, toRequest) => {
  const send = async (...asked: Parameters<ToRequest>) => {
    harness.upstream.script(completion('hi'))
    const response = await harness.app.call(...toRequest(...asked))
    const { path, body } = harness.upstream.requests.at(-1) ?? {}
    return { status: response.status, path, body, dropped: response.headers.get('x-rideau-dropped-params') }
  }
  // Chat completions take tools and a temperature where a model is told not to reason.
  expect(await send('openai/gpt-5.5', OFF, 0.5)).toMatchObject({
    status: 200,
    path: '/v1/chat/completions',
    body: { reasoning_effort: 'none', temperature: 0.5 },
    dropped: null,
  })
  expect((await send('openai/gpt-5', OFF)).body).toMatchObject({ reasoning_effort: 'minimal' })
  expect((await send('openai/gpt-4o-mini', OFF)).body).not.toHaveProperty('reasoning_effort')
  expect((await send('openai/gpt-5.2', MAX)).body).toMatchObject({ reasoning_effort: 'xhigh' })
  expect((await send('groq/openai/gpt-oss-120b', MAX)).body).toMatchObject({ reasoning_effort: 'high' })
})
