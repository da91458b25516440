import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/** Counts of input tokens in the formats of Gemini, Bedrock and OpenAI's Responses. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'gemini', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  await app.addCredential('bedrock', {
    api_key: 'bedrock-key',
    base_url: upstream.origin,
    options: { region: 'us-east-1' },
  })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CLAUDE = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const GEMINI = 'gemini/gemini-2.5-flash'
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const last = () => upstream.requests.at(-1)
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

describe('Gemini :countTokens', () => {
  const count = (model: string, body: object, options = {}) =>
    app.call(`/gemini/v1beta/models/${model}:countTokens`, body, options)

  test('asks Gemini for its own count of the whole request', async () => {
    upstream.script(json(200, { totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] }))
    const systemInstruction = { parts: [{ text: 'be brief' }] }
    const generationConfig = { temperature: 0 }
    const whole = { model: `models/${GEMINI}`, contents, systemInstruction, generationConfig }
    const response = await count(GEMINI, { generateContentRequest: whole })
    expect(await response.json()).toEqual({ totalTokens: 7 })
    expect(last()).toMatchObject({
      path: '/v1/models/gemini-2.5-flash:countTokens',
      body: {
        generateContentRequest: {
          model: 'models/gemini-2.5-flash',
          contents,
          systemInstruction,
          generationConfig,
        },
      },
    })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'count_tokens', status: 200, cost_usd: 0 })
  })

  test('takes a count that is left out for none', async () => {
    upstream.script(json(200, {}))
    expect(await (await count(GEMINI, { contents })).json()).toEqual({ totalTokens: 0 })
  })

  test('estimates for a target of another format without calling it', async () => {
    const before = upstream.requests.length
    const { totalTokens } = (await (await count('openai/gpt-4o-mini', { contents })).json()) as {
      totalTokens: number
    }
    expect(totalTokens).toBeGreaterThan(0)
    expect(upstream.requests.length).toBe(before)
  })

  test("reports the provider's refusal as Google does", async () => {
    upstream.script(json(400, { error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }))
    const response = await count(GEMINI, { contents })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('OpenAI /responses/input_tokens', () => {
  const count = (body: object, options = {}) => app.call('/openai/v1/responses/input_tokens', body, options)

  test('asks OpenAI, without the fields that concern the answer', async () => {
    upstream.script(json(200, { object: 'response.input_tokens', input_tokens: 11 }))
    const body = {
      model: 'openai/gpt-5.4',
      input: 'x',
      instructions: 'y',
      max_output_tokens: 50,
      stream: true,
    }
    const response = await count({ ...body, store: false })
    expect(await response.json()).toEqual({ object: 'response.input_tokens', input_tokens: 11 })
    expect(last()).toMatchObject({ path: '/v1/responses/input_tokens' })
    expect(last()?.body).toEqual({ model: 'gpt-5.4', input: 'x', instructions: 'y' })
  })

  test('estimates where the address has no such route, and for other providers', async () => {
    upstream.script(json(404, { error: { message: 'Not Found' } }))
    const answers = []
    for (const model of ['openai/gpt-5.4', 'anthropic/claude-haiku-4-5']) {
      if (model.startsWith('anthropic')) upstream.script(json(200, { input_tokens: 9 }))
      answers.push(await (await count({ model, input: 'Hello there' })).json())
    }
    expect(answers).toEqual([
      { object: 'response.input_tokens', input_tokens: expect.any(Number) },
      { object: 'response.input_tokens', input_tokens: 9 },
    ])
    expect((answers[0] as { input_tokens: number }).input_tokens).toBeGreaterThan(0)
  })

  test('lets no client token count what is stored at the provider', async () => {
    const key = await makePlaygroundToken(app)
    const body = { model: 'openai/gpt-5.4', input: 'x', previous_response_id: 'resp_1' }
    const response = await count(body, { key })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'previous_response_id' } })
  })
})

describe('Bedrock CountTokens', () => {
  const count = (body: unknown, model = CLAUDE, options = {}) =>
    app.call(`/bedrock/model/${encodeURIComponent(model)}/count-tokens`, body, options)
  const messages = [{ role: 'user', content: [{ text: 'Hello' }] }]
  const ofClaude = {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
  }

  test('asks Bedrock by the name of the model itself', async () => {
    upstream.script(json(200, { inputTokens: 18 }))
    const converse = { messages, inferenceConfig: { maxTokens: 5 } }
    expect(await (await count({ input: { converse } })).json()).toEqual({ inputTokens: 18 })
    expect(last()).toMatchObject({
      path: '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens',
      body: { input: { converse: { messages } } },
    })
    expect(last()?.text).not.toContain('inferenceConfig')
  })

  test('translates a body of InvokeModel, with what is in beta as a header at Anthropic', async () => {
    upstream.script(json(200, { input_tokens: 21 }))
    const body = base64({ ...ofClaude, anthropic_beta: ['context-1m-2025-08-07'] })
    const answer = await count({ input: { invokeModel: { body } } }, 'anthropic/claude-haiku-4-5')
    expect(await answer.json()).toEqual({ inputTokens: 21 })
    expect(last()).toMatchObject({
      path: '/v1/messages/count_tokens',
      headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
    })
    expect(last()?.body).toEqual({ model: 'claude-haiku-4-5', messages: ofClaude.messages })
  })

  test('estimates where Bedrock does not count the model', async () => {
    upstream.script(json(400, { message: "The provided model doesn't support counting tokens." }))
    const answer = await count({ input: { invokeModel: { body: base64(ofClaude) } } })
    expect(((await answer.json()) as { inputTokens: number }).inputTokens).toBeGreaterThan(0)
  })

  test.each([
    ['nothing', {}, 'input'],
    ['neither form', { input: {} }, 'input.converse'],
    ['both forms', { input: { converse: { messages }, invokeModel: { body: '' } } }, 'input'],
    ['an unknown form', { input: { converse: { messages }, other: 1 } }, 'input.other'],
    ['no base64', { input: { invokeModel: { body: '{"a":1}' } } }, 'input.invokeModel.body'],
    [
      'a body of another maker',
      { input: { invokeModel: { body: base64({ prompt: 'x' }) } } },
      'anthropic_version',
    ],
    [
      'a model in the body',
      { input: { invokeModel: { body: base64({ ...ofClaude, model: 'x' }) } } },
      'model',
    ],
    [
      'what is no name of a beta',
      { input: { invokeModel: { body: base64({ ...ofClaude, anthropic_beta: ['a\r\nx-api-key: b'] }) } } },
      'anthropic_beta',
    ],
  ])('refuses %s', async (_title, body, param) => {
    const before = upstream.requests.length
    const response = await count(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ param })
    expect(upstream.requests.length).toBe(before)
  })

  test.each([
    ['a key twice', '{"anthropic_version":"a","messages":[],"messages":[]}'],
    ['too many levels', `{"anthropic_version":"a","messages":${'['.repeat(80)}${']'.repeat(80)}}`],
    ['text that is not JSON', 'hello'],
    ['another spelling of a reserved name', '{"anthropic_version":"a","Messages":[]}'],
  ])('refuses base64 of %s as it would a body', async (_title, text) => {
    const body = Buffer.from(text).toString('base64')
    const response = await count({ input: { invokeModel: { body } } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'request_validation_failed' })
  })
})
