import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  cutStream,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  type UpstreamAnswer,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI
let credentialId: string

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream({ scriptsLists: true })
  credentialId = await app.addCredential('gemini', {
    api_key: 'AIza-of-the-tenant',
    base_url: upstream.baseUrl,
  })
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const model = 'gemini/gemini-3-flash-preview'
const messages = [{ role: 'user' as const, content: 'What time is it?' }]
const usageMetadata = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 150,
  thoughtsTokenCount: 50,
  totalTokenCount: 1200,
}
const tools = [{ type: 'function' as const, function: { name: 'now', parameters: { type: 'object' } } }]

type Part = Record<string, unknown>
const answer = (parts: Part[], finishReason?: string): Record<string, unknown> => ({
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  usageMetadata,
  responseId: 'r1',
})
const plain = (...parts: Part[]): UpstreamAnswer => json(200, answer(parts, 'STOP'))
const frame = (body: unknown): string => `data: ${JSON.stringify(body)}\r\n\r\n`
const fault = (status: number, fields: Record<string, unknown>): UpstreamAnswer =>
  json(status, { error: { code: status, ...fields } })

async function errorOf(response: Response): Promise<Record<string, any>> {
  return ((await response.json()) as { error: Record<string, any> }).error
}

describe('a model of the Gemini family', () => {
  test("answers the native format with separate usage parts and the catalogue's cost", async () => {
    upstream.script(plain({ text: 'Thinking.', thought: true }, { text: 'Noon.' }))
    const response = await app.call('/v1/chat', { model, messages, max_output_tokens: 300 })
    expect(await response.json()).toMatchObject({
      model,
      provider: 'gemini',
      choices: [{ message: { content: 'Noon.', reasoning: 'Thinking.' }, finish_reason: 'stop' }],
      usage: {
        input_tokens: 1000,
        output_tokens: 200,
        total_tokens: 1200,
        input_tokens_details: { cached_tokens: 400, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 50 },
      },
      // $0.50, $0.05 cached and $3 per million.
      cost_usd: 0.00092,
    })
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/models/gemini-3-flash-preview:generateContent')
    expect(seen?.headers['x-goog-api-key']).toBe('AIza-of-the-tenant')
    expect(seen?.headers.authorization).toBeUndefined()
    expect(seen?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'What time is it?' }] }],
      generationConfig: { maxOutputTokens: 300 },
    })
  })

  test("streams to a client of OpenAI's format", async () => {
    upstream.script(
      stream(
        frame(answer([{ text: 'Thinking.', thought: true }])),
        frame(answer([{ text: 'No' }])),
        frame(answer([{ text: 'on.', thoughtSignature: 'TEXT' }], 'STOP')),
      ),
    )
    const final = await client.chat.completions
      .stream({ model, messages, stream_options: { include_usage: true } })
      .finalChatCompletion()
    expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Noon.' } })
    expect(final.usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 200,
      total_tokens: 1200,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 50 },
    })
    expect(upstream.requests.at(-1)?.path).toBe(
      '/v1/models/gemini-3-flash-preview:streamGenerateContent?alt=sse',
    )
  })

  test.each([false, true])(
    "returns a call's signature through a client that keeps only standard fields (streamed: %s)",
    async isStream => {
      const parts = [
        { functionCall: { name: 'now', args: { tz: 'UTC' } }, thoughtSignature: 'SIGNED' },
        { functionCall: { name: 'now', args: { tz: 'CET' } } },
      ]
      upstream.script(
        isStream ? stream(frame(answer(parts, 'STOP'))) : plain(...parts),
        plain({ text: 'Noon.' }),
      )
      const first = isStream
        ? await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
        : await client.chat.completions.create({ model, messages, tools })
      const calls = first.choices[0]?.message.tool_calls ?? []
      expect(first.choices[0]?.finish_reason).toBe('tool_calls')
      expect(calls.map(call => call.type === 'function' && call.function.arguments)).toEqual([
        '{"tz":"UTC"}',
        '{"tz":"CET"}',
      ])
      const tool_calls = calls.flatMap(call => {
        if (call.type !== 'function') return []
        const { name, arguments: text } = call.function
        return [{ id: call.id, type: call.type, function: { name, arguments: text } }]
      })
      const second = await client.chat.completions.create({
        model,
        tools,
        messages: [
          ...messages,
          { role: 'assistant', content: null, tool_calls },
          ...tool_calls.map(({ id }, at) => ({ role: 'tool' as const, tool_call_id: id, content: `${at}` })),
        ],
      })
      expect(second.choices[0]?.message.content).toBe('Noon.')
      expect((upstream.requests.at(-1)?.body.contents as unknown[]).slice(1)).toEqual([
        { role: 'model', parts },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'now', response: { result: '0' } } },
            { functionResponse: { name: 'now', response: { result: '1' } } },
          ],
        },
      ])
    },
  )

  test('answers a blocked prompt without content, and bills it', async () => {
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    }
    upstream.script(json(200, blocked))
    const response = await app.call('/v1/chat', { model, messages })
    expect(await response.json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: null }, finish_reason: 'content_filter' }],
      usage: { input_tokens: 5, output_tokens: 0 },
    })
    upstream.script(stream(frame(blocked)))
    const streamed = await app.call('/v1/chat', { model, messages, stream: true })
    expect(await streamed.text()).toContain('"finish_reason":"content_filter"')
  })

  test('repeats the attempt after a malformed function call', async () => {
    upstream.script(json(200, answer([], 'MALFORMED_FUNCTION_CALL')), plain({ text: 'Noon.' }))
    const response = await app.call('/v1/chat', { model, messages, tools })
    expect(response.headers.get('x-rideau-attempts')).toBe('2')
    upstream.script(
      stream(frame(answer([], 'UNEXPECTED_TOOL_CALL'))),
      stream(frame(answer([{ text: 'Noon.' }], 'STOP'))),
    )
    const streamed = await app.call('/v1/chat', { model, messages, tools, stream: true })
    expect(streamed.headers.get('x-rideau-attempts')).toBe('2')
    expect(await streamed.text()).toContain('Noon.')
  })
})

describe('a provider error', () => {
  const RETRY = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.01s' }

  test.each<[string, string, UpstreamAnswer]>([
    [
      'a bad key, though it is a 400',
      'provider_auth_failed',
      fault(400, {
        status: 'INVALID_ARGUMENT',
        message: 'API key not valid. Please pass a valid API key.',
        details: [{ reason: 'API_KEY_INVALID' }],
      }),
    ],
    [
      'too many tokens',
      'context_length_exceeded',
      json(400, [
        {
          error: {
            code: 400,
            message: 'The input token count (2) exceeds the maximum number of tokens allowed (1).',
          },
        },
      ]),
    ],
    ['an argument', 'provider_rejected', fault(400, { status: 'INVALID_ARGUMENT', message: 'No.' })],
  ])('maps %s to %s after one attempt', async (_, code, refused) => {
    upstream.script(refused)
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', { model, messages })
    expect((await errorOf(response)).code).toBe(code)
    expect(upstream.requests.length - before).toBe(1)
  })

  test('waits for a rate limit as long as its details say', async () => {
    upstream.script(fault(429, { status: 'RESOURCE_EXHAUSTED', details: [RETRY] }), plain({ text: 'Noon.' }))
    const response = await app.call('/v1/chat', { model, messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-rideau-attempts')).toBe('2')
  })

  test("as a stream's first event is retried; after a token it ends the stream", async () => {
    const overloaded = frame([
      { error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } },
    ])
    upstream.script(stream(overloaded), stream(frame(answer([{ text: 'Noon.' }], 'STOP'))))
    const recovered = await app.call('/v1/chat', { model, messages, stream: true })
    expect(await recovered.text()).toContain('Noon.')
    upstream.script(stream(frame(answer([{ text: 'No' }])), overloaded))
    const broken = await (await app.call('/v1/chat', { model, messages, stream: true })).text()
    expect(broken).toContain('stream_interrupted')
    expect(broken).not.toContain('overloaded')
    upstream.script(cutStream(frame(answer([{ text: 'No' }]))))
    const cut = await (await app.call('/v1/chat', { model, messages, stream: true })).text()
    expect(cut).toContain('stream_interrupted')
  })
})

describe('refuses before sending', () => {
  test('an unsupported parameter, by name', async () => {
    const response = await app.call('/openai/v1/chat/completions', {
      model,
      messages,
      logit_bias: { 5: 1 },
    })
    expect(response.status).toBe(400)
    expect((await errorOf(response)).param).toBe('logit_bias')
  })

  test.each([
    { contents: [] },
    { system_instruction: {} },
    { systemInstruction: {} },
    { toolConfig: {} },
    { cachedContent: 'cachedContents/another' },
    { serviceTier: 'priority' },
    { generationConfig: { maxOutputTokens: 9 } },
    { generation_config: { max_output_tokens: 9 } },
    { generationConfig: { candidateCount: 8 } },
    { generationConfig: { responseModalities: ['AUDIO'] } },
  ])('provider_options %j', async options => {
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', { model, messages, provider_options: { gemini: options } })
    expect(response.status).toBe(400)
    expect((await errorOf(response)).param).toMatch(/^provider_options\.gemini\./)
    expect(upstream.requests.length).toBe(before)
  })
})

describe('credential validation', () => {
  const validate = async (): Promise<string | null> =>
    (await app.manage('POST', `/v1/provider-credentials/${credentialId}/validate`)).body.validation_error

  test('lists models by their resource names, which can be called', async () => {
    upstream.script(
      json(200, {
        models: [
          { name: 'models/gemini-99-flash', supportedGenerationMethods: ['generateContent', 'countTokens'] },
          { name: 'models/gemini-live', supportedGenerationMethods: ['bidiGenerateContent'] },
        ],
      }),
    )
    expect(await validate()).toBeNull()
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/models?pageSize=1000')
    expect(seen?.headers['x-goog-api-key']).toBe('AIza-of-the-tenant')
    upstream.script(plain({ text: 'Noon.' }))
    expect((await app.call('/v1/chat', { model: 'gemini/gemini-99-flash', messages })).status).toBe(200)
    const headers = { authorization: `Bearer ${app.secretKey}` }
    const isListed = async (id: string): Promise<boolean> =>
      (await fetch(`${app.gatewayUrl}/v1/models/${id}`, { headers })).status === 200
    expect(await isListed('gemini/gemini-99-flash')).toBe(true)
    expect(await isListed('gemini/gemini-live')).toBe(false)
  })

  test('reports a rejected key although its status is 400', async () => {
    upstream.script(fault(401, {}))
    const rejected = await validate()
    upstream.script(
      fault(400, { status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' }),
    )
    expect(await validate()).toBe(rejected)
    upstream.script(fault(400, { status: 'INVALID_ARGUMENT', message: 'Bad page.' }))
    expect(await validate()).not.toBe(rejected)
  })
})
