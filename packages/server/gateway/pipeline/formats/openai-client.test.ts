import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const model = 'openai/gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'What time is it?' }]
const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'now',
      description: 'The time',
      parameters: { type: 'object', properties: { tz: { type: 'string' } } },
    },
  },
]

describe('the official client, configured by its base URL alone', () => {
  test('gets a plain answer', async () => {
    upstream.script(completion('Noon.'))
    const answer = await client.chat.completions.create({ model, messages })
    expect(answer.choices[0]?.message.content).toBe('Noon.')
    expect(answer.usage?.total_tokens).toBe(15)
  })

  test('gets a stream, with usage if requested', async () => {
    upstream.script(streamedCompletion('No', 'on', '.'))
    const parts: string[] = []
    let total: number | undefined
    for await (const part of await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      parts.push(part.choices[0]?.delta.content ?? '')
      total = part.usage?.total_tokens ?? total
    }
    expect(parts.join('')).toBe('Noon.')
    expect(total).toBe(15)
  })

  test('gets a tool call and sends its result', async () => {
    const call = {
      id: 'call_1',
      type: 'function' as const,
      function: { name: 'now', arguments: '{"tz":"UTC"}' },
    }
    upstream.script(
      completion('', {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [call], refusal: null },
            logprobs: null,
            finish_reason: 'tool_calls',
          },
        ],
      }),
      completion('Noon.'),
    )
    const first = await client.chat.completions.create({ model, messages, tools })
    expect(first.choices[0]?.message.tool_calls).toEqual([call])
    const second = await client.chat.completions.create({
      model,
      tools,
      messages: [
        ...messages,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
      ],
    })
    expect(second.choices[0]?.message.content).toBe('Noon.')
    expect((upstream.requests.at(-1)?.body.messages as unknown[])[2]).toEqual({
      role: 'tool',
      tool_call_id: 'call_1',
      content: '12:00',
    })
  })

  test('joins streamed tool calls', async () => {
    const delta = (fields: Record<string, unknown>): string =>
      chunk({ tool_calls: [{ index: 0, ...fields }] })
    upstream.script(
      stream(
        chunk({ role: 'assistant', content: null }),
        delta({ id: 'call_1', type: 'function', function: { name: 'now', arguments: '' } }),
        delta({ function: { arguments: '{"tz":' } }),
        delta({ function: { arguments: '"UTC"}' } }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
    )
    const final = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'now', arguments: '{"tz":"UTC"}' },
    })
  })

  test('sends response_format unchanged and parses the answer', async () => {
    upstream.script(completion('{"time":"12:00"}'))
    const response_format = {
      type: 'json_schema' as const,
      json_schema: {
        name: 'time',
        strict: true,
        schema: {
          type: 'object',
          properties: { time: { type: 'string' } },
          required: ['time'],
          additionalProperties: false,
        },
      },
    }
    const answer = await client.chat.completions.parse({ model, messages, response_format })
    expect(answer.choices[0]?.message.content).toBe('{"time":"12:00"}')
    expect(upstream.requests.at(-1)?.body.response_format).toEqual(response_format)
  })

  test('lists the models and gets one of them', async () => {
    const ids: string[] = []
    for await (const each of client.models.list()) ids.push(each.id)
    expect(ids).toContain(model)
    expect(ids).toContain('sandbox/echo')
    expect(ids.every(id => id.startsWith('openai/') || id.startsWith('sandbox/'))).toBe(true)
    expect((await client.models.retrieve(model)).id).toBe(model)
  })

  test('raises errors as its own classes, with code, param and request id', async () => {
    const refused = await client.chat.completions
      .create({ model: 'sandbox/unheard-of', messages })
      .catch(error => error)
    expect(refused).toBeInstanceOf(OpenAI.NotFoundError)
    expect(refused).toMatchObject({ code: 'model_not_found', param: 'model' })
    expect(refused.requestID).toMatch(/^[0-9a-f-]{36}$/)
    const stranger = new OpenAI({
      baseURL: `${app.gatewayUrl}/openai/v1`,
      apiKey: 'sk-wrong',
      maxRetries: 0,
    })
    expect(await stranger.models.list().catch(error => error)).toBeInstanceOf(OpenAI.AuthenticationError)
  })

  test('raises an interrupted stream instead of ending it', async () => {
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'No' }), () => setImmediate(() => res.destroy()))
    })
    const read = async (): Promise<void> => {
      for await (const _ of await client.chat.completions.create({ model, messages, stream: true })) {
        // Only the end of the stream matters.
      }
    }
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError)
  })

  test('does not retry a stored credential that the provider rejects', async () => {
    upstream.script(json(401, { error: { message: 'bad key' } }))
    const patient = new OpenAI({
      baseURL: `${app.gatewayUrl}/openai/v1`,
      apiKey: app.secretKey,
      maxRetries: 3,
    })
    const before = upstream.requests.length
    await patient.chat.completions.create({ model, messages }).catch(() => {})
    expect(upstream.requests.length - before).toBe(1)
  })
})
