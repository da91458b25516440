import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateObject, generateText, jsonSchema, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf, streamedResponseOf } from '../../../testing/fakes/scripted-responses.ts'
import {
  chunk,
  completion,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let models: ReturnType<typeof createOpenAICompatible>

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  models = createOpenAICompatible({
    name: 'rideau',
    baseURL: `${app.gatewayUrl}/openai/v1`,
    apiKey: app.secretKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const schema = jsonSchema<{ time: string }>({
  type: 'object',
  properties: { time: { type: 'string' } },
  required: ['time'],
  additionalProperties: false,
})
const tools = {
  now: tool({
    description: 'The time',
    inputSchema: jsonSchema<{ tz: string }>({ type: 'object' }),
    execute: () => '12:00',
  }),
}
const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz":"UTC"}' } }
const item = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'now',
  arguments: '{"tz":"UTC"}',
  status: 'completed',
}
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
const called = completion('', {
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [call], refusal: null },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
})
const calledStream = stream(
  chunk({ role: 'assistant', content: null }),
  chunk({ tool_calls: [{ index: 0, ...call }] }),
  chunk({}, 'tool_calls'),
  usageChunk(),
  DONE,
)

describe.each([
  {
    kind: 'chat completions',
    model: 'openai/gpt-4o-mini',
    plain: completion('High noon.'),
    streamed: streamedCompletion('High ', 'noon.'),
    called,
    calledStream,
    json: completion('{"time":"12:00"}'),
    total: 15,
  },
  {
    kind: 'Responses',
    model: 'openai/gpt-5-pro',
    plain: responseOf(messageItem('High noon.')),
    streamed: streamedResponseOf(messageItem('High noon.')),
    called: responseOf(thought, item),
    calledStream: streamedResponseOf(thought, item),
    json: responseOf(messageItem('{"time":"12:00"}')),
    total: 30,
  },
])('the AI SDK, with a model of $kind', ({ model, plain, streamed, called, calledStream, json, total }) => {
  test('gets a plain answer', async () => {
    upstream.script(plain)
    const answer = await generateText({ model: models(model), prompt: 'Time?', maxRetries: 0 })
    expect(answer.text).toBe('High noon.')
    expect(answer.usage.totalTokens).toBe(total)
  })

  test('gets a stream with its usage', async () => {
    upstream.script(streamed)
    const answer = streamText({ model: models(model), prompt: 'Time?', maxRetries: 0 })
    let text = ''
    for await (const part of answer.textStream) text += part
    expect(text).toBe('High noon.')
    expect((await answer.usage).totalTokens).toBe(total)
    expect(await answer.finishReason).toBe('stop')
  })

  test('runs a tool and sends its result back', async () => {
    upstream.script(called, plain)
    const asked = await generateText({ model: models(model), prompt: 'Time?', tools, maxRetries: 0 })
    expect(asked.toolResults).toMatchObject([{ toolName: 'now', output: '12:00' }])
    const messages = [{ role: 'user' as const, content: 'Time?' }, ...asked.response.messages]
    const answer = await generateText({ model: models(model), messages, tools, maxRetries: 0 })
    expect(answer.text).toBe('High noon.')
    const body = upstream.requests.at(-1)?.body as Record<string, unknown[]>
    expect(JSON.stringify(body.messages ?? body.input)).toContain('12:00')
    // Reasoning that the client does not support came back in the call's id.
    if (body.input !== undefined) expect(body.input[1]).toEqual(thought)
  })

  test('gets a streamed tool call', async () => {
    upstream.script(calledStream)
    const answer = streamText({ model: models(model), prompt: 'Time?', tools, maxRetries: 0 })
    expect(await answer.toolCalls).toMatchObject([{ toolName: 'now', input: { tz: 'UTC' } }])
    expect(await answer.finishReason).toBe('tool-calls')
  })

  test('gets structured output', async () => {
    upstream.script(json)
    const answer = await generateObject({ model: models(model), prompt: 'Time?', schema, maxRetries: 0 })
    expect(answer.object).toEqual({ time: '12:00' })
    expect(upstream.requests.at(-1)?.text).toContain('"json_schema"')
  })
})
