import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  block,
  event,
  MESSAGE_START,
  message,
  messageStream,
  textBlock,
} from '../../../testing/fakes/scripted-anthropic.ts'
import {
  chunk,
  completion,
  cutStream,
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
let other: ScriptedUpstream
let client: Anthropic

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  other = await openScriptedUpstream()
  await app.addCredential('anthropic', { api_key: 'sk-ant-of-the-tenant', base_url: upstream.baseUrl })
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: other.baseUrl })
  client = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await other.close()
  await app.close()
})

const max_tokens = 100
const messages = [{ role: 'user' as const, content: 'What time is it?' }]
const tools = [
  {
    name: 'now',
    description: 'The time',
    input_schema: { type: 'object' as const, properties: { tz: { type: 'string' } } },
  },
]
/** A bare model name goes to its maker, as clients of this format write it. */
const claude = 'claude-sonnet-4-6'
const gpt = 'openai/gpt-4o-mini'

const call = { type: 'tool_use', id: 'toolu_1', name: 'now', input: { tz: 'UTC' } }
const openAiCall = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz":"UTC"}' } }
const completionWithCall = completion('', {
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [openAiCall], refusal: null },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
})

describe('the official client, with a provider of the same format', () => {
  test("gets a plain answer; body and answer pass unchanged except for the model's name", async () => {
    upstream.script(message([{ type: 'text', text: 'Noon.' }], { novelty: { a: 1 } }))
    const body = {
      model: claude,
      max_tokens,
      system: [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }],
      messages,
      metadata: { user_id: '{"device":"x"}' },
    }
    const answer = await client.messages.create(body, {
      headers: { 'anthropic-beta': 'one-2025-01-01,two-2025-02-02' },
    })
    expect(answer.content).toEqual([{ type: 'text', text: 'Noon.' }])
    expect(answer).toMatchObject({ id: 'msg_scripted', novelty: { a: 1 }, usage: { input_tokens: 12 } })
    expect(answer._request_id).toMatch(/^[0-9a-f-]{36}$/)
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/messages')
    expect(seen?.body).toEqual(body)
    expect(seen?.headers).toMatchObject({
      'x-api-key': 'sk-ant-of-the-tenant',
      // The client's own version, whose answers it expects.
      'anthropic-version': expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      'anthropic-beta': 'one-2025-01-01,two-2025-02-02',
    })
    expect(seen?.headers).not.toHaveProperty('x-stainless-lang')
    const log = await app.findLog(answer._request_id ?? '')
    expect(log).toMatchObject({ model: `anthropic/${claude}`, status: 200 })
    // Dollars per million: 12 at 3, 8 read at 0.3, 1 written at 3.75, 3 written for an hour at 6, and 5 output at 15.
    expect(log.cost_usd).toBeCloseTo((12 * 3 + 8 * 0.3 + 3.75 + 3 * 6 + 5 * 15) / 1e6, 9)
  })

  test('gets a stream', async () => {
    upstream.script(
      messageStream([
        ...block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'hm' },
          { type: 'signature_delta', signature: 'sig' },
        ),
        ...textBlock(1, 'No', 'on', '.'),
      ]),
    )
    const streamed = client.messages.stream({ model: claude, max_tokens, messages })
    const texts: string[] = []
    streamed.on('text', text => texts.push(text))
    const final = await streamed.finalMessage()
    expect(texts).toEqual(['No', 'on', '.'])
    expect(final.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'Noon.' },
    ])
    expect(final.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
    expect(final.stop_reason).toBe('end_turn')
  })

  test('gets a tool call and sends its result', async () => {
    upstream.script(message([call], { stop_reason: 'tool_use' }), message([{ type: 'text', text: 'Noon.' }]))
    const first = await client.messages.create({ model: claude, max_tokens, messages, tools })
    expect(first.stop_reason).toBe('tool_use')
    const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: '12:00' }
    const next = [
      ...messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ]
    await client.messages.create({ model: claude, max_tokens, messages: next, tools })
    expect(upstream.requests.at(-1)?.body.messages).toEqual(next)
  })

  test("gets the provider's token count, at no charge", async () => {
    upstream.script(json(200, { input_tokens: 4321 }))
    const counted = await client.messages.countTokens({ model: claude, messages, tools })
    expect(counted.input_tokens).toBe(4321)
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/messages/count_tokens')
    expect(seen?.body).toEqual({ model: claude, messages, tools })
    const log = await app.findLog(counted._request_id ?? '')
    expect(log).toMatchObject({ endpoint: 'count_tokens', cost_usd: 0 })
  })

  test('is answered by the next attempt after an error as the first event', async () => {
    const overloaded = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })
    upstream.script(stream(MESSAGE_START, overloaded), messageStream(textBlock(0, 'Noon.')))
    const final = await client.messages.stream({ model: claude, max_tokens, messages }).finalMessage()
    expect(final.content).toMatchObject([{ text: 'Noon.' }])
  })

  test('raises an error or a break within a stream instead of ending it', async () => {
    const begun = [MESSAGE_START, ...textBlock(0, 'No').slice(0, 2)]
    const failures = [
      stream(...begun, event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })),
      cutStream(...begun),
    ]
    for (const failure of failures) {
      upstream.script(failure)
      const streamed = client.messages.stream({ model: claude, max_tokens, messages })
      await expect(streamed.finalMessage()).rejects.toThrow(Anthropic.APIError)
    }
  })
})

describe('the official client, with a provider of another format', () => {
  test('gets a plain answer; fields of this format alone are not sent', async () => {
    other.script(completion('Noon.'))
    const answer = await client.messages.create(
      {
        model: gpt,
        max_tokens,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            ],
          },
        ],
        stop_sequences: ['x'],
        thinking: { type: 'adaptive' },
        metadata: { user_id: 'u' },
      },
      { headers: { 'anthropic-beta': 'one-2025-01-01' } },
    )
    expect(answer).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: gpt,
      content: [{ type: 'text', text: 'Noon.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 12, output_tokens: 3 },
    })
    const seen = other.requests.at(-1)
    expect(seen?.body).toEqual({
      model: 'gpt-4o-mini',
      max_completion_tokens: max_tokens,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      stop: ['x'],
    })
    expect(Object.keys(seen?.headers ?? {}).filter(name => name.startsWith('anthropic'))).toEqual([])
  })

  test('gets a stream of known events only', async () => {
    other.script(streamedCompletion('No', 'on', '.'))
    const types: string[] = []
    const streamed = client.messages.stream({ model: gpt, max_tokens, messages })
    streamed.on('streamEvent', ({ type }) => types.push(type))
    const final = await streamed.finalMessage()
    expect(final.content).toMatchObject([{ type: 'text', text: 'Noon.' }])
    expect(final.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 })
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('gets a tool call, and sends its result with an image next to it', async () => {
    other.script(completionWithCall, completion('Noon.'))
    const first = await client.messages.create({
      model: gpt,
      max_tokens,
      messages,
      tools,
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    })
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'call_1', name: 'now', input: { tz: 'UTC' } }],
    })
    expect(other.requests.at(-1)?.body).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: { name: 'now', parameters: tools[0]?.input_schema } }],
    })
    await client.messages.create({
      model: gpt,
      max_tokens,
      tools,
      messages: [
        ...messages,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              is_error: true,
              content: [
                { type: 'text', text: '12:00' },
                { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
              ],
            },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    })
    expect((other.requests.at(-1)?.body.messages as unknown[]).slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: [openAiCall] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Error: 12:00' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://x/y.png' } },
          { type: 'text', text: 'Well?' },
        ],
      },
    ])
  })

  test('gets streamed calls, also parallel ones with alternating pieces', async () => {
    const piece = (index: number, fields: object): string => chunk({ tool_calls: [{ index, ...fields }] })
    const begin = (index: number) =>
      piece(index, { id: `call_${index}`, type: 'function', function: { name: 'now', arguments: '' } })
    other.script(
      stream(
        chunk({ role: 'assistant', content: 'Let me see.' }),
        begin(0),
        begin(1),
        piece(0, { function: { arguments: '{"tz":' } }),
        piece(1, { function: { arguments: '{}' } }),
        piece(0, { function: { arguments: '"UTC"}' } }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
    )
    const final = await client.messages.stream({ model: gpt, max_tokens, messages, tools }).finalMessage()
    expect(final.stop_reason).toBe('tool_use')
    expect(final.content).toMatchObject([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'call_0', input: { tz: 'UTC' } },
      { type: 'tool_use', id: 'call_1', input: {} },
    ])
  })

  test('gets thinking with a signature that the gateway recognizes later', async () => {
    other.script(
      stream(chunk({ reasoning_content: 'hm' }), chunk({ content: 'Noon.' }), chunk({}, 'stop'), DONE),
      completion('Yes.'),
    )
    const final = await client.messages.stream({ model: gpt, max_tokens, messages }).finalMessage()
    expect(final.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: 'rideau-thinking' },
      { type: 'text', text: 'Noon.' },
    ])
    upstream.script(message([{ type: 'text', text: 'Yes.' }]))
    const next = [
      ...messages,
      { role: 'assistant' as const, content: final.content },
      { role: 'user' as const, content: 'Sure?' },
    ]
    for (const model of [gpt, claude]) await client.messages.create({ model, max_tokens, messages: next })
    expect((other.requests.at(-1)?.body.messages as unknown[])[1]).toEqual({
      role: 'assistant',
      content: 'Noon.',
    })
    expect((upstream.requests.at(-1)?.body.messages as { content: unknown }[])[1]?.content).toMatchObject([
      { type: 'text', text: 'Noon.' },
    ])
  })

  test('gets an estimated token count', async () => {
    const before = other.requests.length
    const { input_tokens } = await client.messages.countTokens({ model: gpt, messages, system: 'Be brief.' })
    expect(input_tokens).toBeGreaterThan(3)
    expect(input_tokens).toBeLessThan(100)
    expect(other.requests.length).toBe(before)
  })

  test("sends no cap above the model's own, loses hints by name, and is refused other parameters", async () => {
    other.script(streamedCompletion('Noon.'))
    await client.messages.stream({ model: gpt, max_tokens: 64_000, messages }).finalMessage()
    expect(other.requests.at(-1)?.body.max_completion_tokens).toBe(16_384)
    other.script(streamedCompletion('Noon.'))
    const body = { model: gpt, max_tokens, messages, stream: true }
    const sampled = await app.call('/anthropic/v1/messages', { ...body, top_k: 5 })
    expect([sampled.status, sampled.headers.get('x-rideau-dropped-params')]).toEqual([200, 'top_k'])
    await sampled.text()
    const refused = await app.call('/anthropic/v1/messages', { ...body, novelty: 5 })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_request', param: 'novelty' } })
  })

  test('raises an interrupted stream', async () => {
    other.script(cutStream(chunk({ content: 'No' })))
    const streamed = client.messages.stream({ model: gpt, max_tokens, messages })
    await expect(streamed.finalMessage()).rejects.toMatchObject({
      error: { type: 'error', error: { type: 'api_error', code: 'stream_interrupted' } },
    })
  })
})
