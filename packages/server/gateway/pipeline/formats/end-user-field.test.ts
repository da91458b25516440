import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { FORMAT_TARGETS } from '../../../testing/harness/format-targets.ts'

/** A secret key's `end_user` in a body names the end user in every format, and goes to no provider. */

const messages = [{ role: 'user', content: 'hi' }]
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const CONVERSE = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }

type ToRequest = (model: string) => readonly [route: string, body: object]

/** Bodies for the model of each format. */
const CALLERS: Readonly<Record<string, ToRequest>> = {
  native: model => ['/v1/chat', { model, messages }],
  'chat completions': model => ['/openai/v1/chat/completions', { model, messages }],
  Responses: model => ['/openai/v1/responses', { model, input: 'hi' }],
  messages: model => ['/anthropic/v1/messages', { model, messages, max_tokens: 9 }],
  Gemini: model => [`/gemini/v1beta/models/${model}:generateContent`, GEMINI],
  Cohere: model => ['/cohere/v2/chat', { model, messages }],
  Converse: model => [`/bedrock/model/${encodeURIComponent(model)}/converse`, CONVERSE],
  Ollama: model => ['/ollama/api/chat', { model, messages, stream: false }],
}

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp()
  for (const provider of ['groq', 'openai', 'anthropic', 'gemini', 'cohere', 'ollama', 'bedrock', 'custom']) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl, ...options })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

async function expectNamed(route: string, body: object): Promise<void> {
  const response = await app.call(route, { end_user: 'ada-of-the-tenant', ...body })
  expect([response.status, response.headers.get('x-rideau-dropped-params'), await response.text()]).toEqual([
    200,
    null,
    expect.any(String),
  ])
  expect(upstream.requests.at(-1)?.text).not.toContain('end_user')
  expect(upstream.requests.at(-1)?.text).not.toContain('ada-of-the-tenant')
  const log = await app.findLog(response.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({ end_user_id: 'ada-of-the-tenant' })
}

describe.each(Object.entries(CALLERS))('end_user in a body of %s', (_, toRequest) => {
  test.each(Object.entries(FORMAT_TARGETS))(
    'names the end user and is not sent to a provider of %s',
    async (_, [model, answer]) => {
      upstream.script(answer)
      await expectNamed(...toRequest(model))
    },
  )

  test('is refused where it is no text', async () => {
    const [route, body] = toRequest('groq/llama-3.3-70b-versatile')
    const response = await app.call(route, { ...body, end_user: { id: 'ada' } })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('end_user')])
  })
})

test('end_user in a body of completions names the end user and is not sent', async () => {
  const choices = [{ index: 0, text: 'x', finish_reason: 'stop' }]
  upstream.script(json(200, { id: 'x', object: 'text_completion', created: 1, model: 'm', choices }))
  await expectNamed('/openai/v1/completions', { model: 'custom/m', prompt: 'hi' })
})

test('end_user in a body of InvokeModel names the end user and is not sent', async () => {
  const [model, answer] = FORMAT_TARGETS['anthropic-messages'] ?? []
  if (model === undefined || answer === undefined) throw new Error('no target of Anthropic')
  upstream.script(answer)
  const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages }
  await expectNamed(`/bedrock/model/${encodeURIComponent(model)}/invoke`, body)
})

test.each([
  ['first', '{"end_user":"ada", "model":"custom/m","seed":7,"messages":[]}'],
  ['between others', '{"model":"custom/m", "end_user" : "ada","seed":7,"messages":[]}'],
  ['last', '{"model":"custom/m","seed":7,"messages":[] , "end_user":"ada" }'],
  ['null', '{"model":"custom/m","end_user":null,"seed":7,"messages":[]}'],
])('every other field of a body is sent as it came where end_user is %s', async (_, text) => {
  upstream.script(completion('hi'))
  const response = await app.call('/openai/v1/chat/completions', text.replace('[]', JSON.stringify(messages)))
  expect(response.status).toBe(200)
  expect(upstream.requests.at(-1)?.body).toEqual({ model: 'm', seed: 7, messages })
})
