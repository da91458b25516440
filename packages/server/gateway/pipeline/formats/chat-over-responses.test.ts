import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf, streamedResponseOf } from '../../../testing/fakes/scripted-responses.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'groq']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CHAT_ONLY = 'groq/llama-3.3-70b-versatile'
const NATIVE = 'openai/gpt-5'
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'now', description: 'The time', parameters: { type: 'object' }, strict: false },
]
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'now',
  arguments: '{"tz": "UTC"}',
  status: 'completed',
}

const sent = (): Record<string, any> => upstream.requests.at(-1)?.body as Record<string, any>

describe('chat completions over Responses', () => {
  const messages = [{ role: 'user' as const, content: 'Time?' }]
  const chatTools = [{ type: 'function' as const, function: { name: 'now', parameters: { type: 'object' } } }]
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm' }],
    encrypted_content: 'sealed',
  }

  test('uses Responses for a model whose chat completions refuse tools with reasoning, and returns its reasoning', async () => {
    upstream.script(responseOf(thought, call), responseOf(messageItem('Noon.')))
    const request = { model: 'openai/gpt-5.4-mini', reasoning_effort: 'low' as const, tools: chatTools }
    const first = await client.chat.completions.create({ ...request, messages })
    expect(upstream.requests.at(-1)?.path).toBe('/v1/responses')
    expect(sent()).toMatchObject({
      store: false,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    })
    const message = first.choices[0]?.message
    expect(message?.tool_calls).toMatchObject([{ function: { name: 'now', arguments: '{"tz": "UTC"}' } }])
    expect(first.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 })
    // A client that keeps only standard fields.
    const { id, function: fn } = message?.tool_calls?.[0] as OpenAI.Chat.ChatCompletionMessageFunctionToolCall
    const kept = {
      role: 'assistant' as const,
      content: null,
      tool_calls: [{ id, type: 'function' as const, function: fn }],
    }
    await client.chat.completions.create({
      ...request,
      messages: [...messages, kept, { role: 'tool', tool_call_id: id, content: '12:00' }],
    })
    expect(sent().input.slice(1)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: thought.summary, encrypted_content: 'sealed' },
      { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{"tz": "UTC"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
    ])
  })

  test('streams the answer', async () => {
    upstream.script(streamedResponseOf(messageItem('High noon.')))
    const parts: string[] = []
    for await (const part of await client.chat.completions.create({
      model: 'openai/gpt-5.4-mini',
      reasoning_effort: 'low',
      tools: chatTools,
      messages,
      stream: true,
    })) {
      parts.push(part.choices[0]?.delta.content ?? '')
    }
    expect(parts.join('')).toBe('High noon.')
  })

  test('answers a Responses body on this route with a chat completion', async () => {
    for (const model of [CHAT_ONLY, NATIVE]) {
      upstream.script(completion('Noon.'))
      const flat = { model, input: [{ role: 'user', content: 'Time?' }], tools, stream: false }
      const answer = await app.call('/openai/v1/chat/completions', flat)
      expect(await answer.json()).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { content: 'Noon.' } }],
      })
      expect(sent().messages).toEqual([{ role: 'user', content: 'Time?' }])
      expect(sent()).not.toHaveProperty('input')
      expect(sent().tools[0]).toMatchObject({ type: 'function', function: { name: 'now' } })
    }
  })
})
