import { writeEvent, writeException, writeFrame } from '@rideau/llm/testing/write-event-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** Chat with a provider of the Converse format: another format, another framing, signed requests. */

const CLAUDE = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const PATH = '/v1/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0'
const messages = [{ role: 'user', content: 'Weather in Paris?' }]
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]
const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 35,
  cacheReadInputTokens: 20,
  cacheWriteInputTokens: 0,
}

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  const options = { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE', session_token: 'temporary' }
  await app.addCredential('bedrock', { api_key: 'secret-of-aws', base_url: upstream.baseUrl, options })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

function answer(content: unknown[], stopReason = 'end_turn'): UpstreamAnswer {
  return json(200, { output: { message: { role: 'assistant', content } }, stopReason, usage: USAGE })
}

/** Frames of an event stream, split within frames. */
function eventStream(...frames: Buffer[]): UpstreamAnswer {
  return res => {
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const bytes = Buffer.concat(frames)
    const middle = Math.floor(bytes.length / 2) + 1
    res.write(bytes.subarray(0, middle), () => res.end(bytes.subarray(middle)))
  }
}

const text = (content: string): Buffer =>
  writeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: content } })
const START = writeEvent('messageStart', { role: 'assistant' })
const STOP = (reason: string): Buffer => writeEvent('messageStop', { stopReason: reason })
const METADATA = writeEvent('metadata', { usage: USAGE, metrics: { latencyMs: 1 } })

function framesOf(stream: string): any[] {
  return stream
    .split('\n\n')
    .filter(block => block.includes('data: '))
    .map(block => block.slice(block.indexOf('data: ') + 6))
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
}

describe('a plain answer', () => {
  test('translates and signs the request, and translates the answer with usage and cost', async () => {
    upstream.script(answer([{ text: 'Sunny.' }]))
    const response = await app.call('/v1/chat', { model: CLAUDE, messages, max_output_tokens: 50 })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      model: CLAUDE,
      provider: 'bedrock',
      choices: [{ message: { role: 'assistant', content: 'Sunny.' }, finish_reason: 'stop' }],
      usage: {
        input_tokens: 30,
        output_tokens: 5,
        total_tokens: 35,
        input_tokens_details: { cached_tokens: 20 },
      },
      cost_usd: expect.any(Number),
    })
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe(`${PATH}/converse`)
    expect(seen?.body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Weather in Paris?' }] }],
      inferenceConfig: { maxTokens: 50 },
    })
    expect(seen?.headers).toMatchObject({
      'x-amz-security-token': 'temporary',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      ),
    })
    expect(JSON.stringify(seen?.headers)).not.toContain('secret-of-aws')
  })

  test('restores signed thinking in the next request, though the client keeps only standard fields', async () => {
    const thinking = { reasoningText: { text: 'Look it up.', signature: 'c2ln' } }
    const toolUse = { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Paris' } }
    upstream.script(
      answer([{ reasoningContent: thinking }, { toolUse }], 'tool_use'),
      answer([{ text: 'Sunny.' }]),
    )
    const path = '/openai/v1/chat/completions'
    const ask = { model: CLAUDE, messages, tools, reasoning_effort: 'low' }
    const first = (await (await app.call(path, ask)).json()) as any
    const [{ message, finish_reason }] = first.choices
    expect(finish_reason).toBe('tool_calls')
    const [call] = message.tool_calls
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Paris"}' },
    })
    const answered = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: '20 degrees' },
    ]
    const second = await app.call(path, { ...ask, messages: answered })
    expect(second.status).toBe(200)
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ reasoningContent: thinking }, { toolUse }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: '20 degrees' }] } }],
        },
      ],
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4096 } },
    })
  })

  test.each<[number, string, string, number, string]>([
    [429, 'ThrottlingException', 'Too many requests', 503, 'provider_overloaded'],
    [403, 'UnrecognizedClientException', 'The security token is invalid', 502, 'provider_auth_failed'],
    [500, 'AccessDeniedException', 'Input is too long for requested model.', 503, 'provider_unavailable'],
    [400, 'ValidationException', 'Input is too long for requested model.', 400, 'context_length_exceeded'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 404, 'model_not_found'],
  ])('%i %s: %s', async (status, type, message, ours, code) => {
    upstream.script(
      json(status, { message }, { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` }),
    )
    const response = await app.call('/v1/chat', { model: CLAUDE, messages })
    const { error } = (await response.json()) as any
    expect([response.status, error.code]).toEqual([ours, code])
  })

  test('refuses an unsupported parameter by name before anything is sent', async () => {
    const sent = upstream.requests.length
    const response = await app.call('/v1/chat', { model: CLAUDE, messages, logprobs: true })
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'logprobs' } })
    expect(upstream.requests.length).toBe(sent)
  })
})

describe('a streamed answer', () => {
  test('sends text and calls as chunks, and usage at the end although it follows the finish reason', async () => {
    const toolUse = { toolUseId: 'tooluse_2', name: 'weather' }
    upstream.script(
      eventStream(
        START,
        text('Let me '),
        text('see.'),
        writeEvent('contentBlockStop', { contentBlockIndex: 0 }),
        writeEvent('contentBlockStart', { contentBlockIndex: 1, start: { toolUse } }),
        writeEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":' } } }),
        writeEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '"Paris"}' } } }),
        writeEvent('contentBlockStop', { contentBlockIndex: 1 }),
        STOP('tool_use'),
        METADATA,
      ),
    )
    const response = await app.call('/openai/v1/chat/completions', {
      model: CLAUDE,
      messages,
      tools,
      stream: true,
      stream_options: { include_usage: true },
    })
    const frames = framesOf(await response.text())
    expect(upstream.requests.at(-1)?.path).toBe(`${PATH}/converse-stream`)
    expect(frames.at(-1)).toBe('[DONE]')
    expect(frames.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 5 } })
    const deltas = frames.slice(0, -2).map(frame => frame.choices[0])
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe('Let me see.')
    const pieces = deltas.flatMap(({ delta }) => delta.tool_calls ?? [])
    expect(pieces[0]).toMatchObject({ index: 0, id: 'tooluse_2', function: { name: 'weather' } })
    expect(pieces.map(piece => piece.function.arguments).join('')).toBe('{"city":"Paris"}')
    expect(deltas.at(-1).finish_reason).toBe('tool_calls')
  })

  test('an exception before the first text fails the attempt; a later one ends the stream with an error', async () => {
    upstream.script(eventStream(START, writeException('throttlingException', 'Too many tokens')))
    const refused = await app.call('/v1/chat', { model: CLAUDE, messages, stream: true })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { code: 'provider_overloaded' } })

    upstream.script(
      eventStream(START, text('Half an '), writeException('modelStreamErrorException', 'broke')),
    )
    const broken = await (await app.call('/v1/chat', { model: CLAUDE, messages, stream: true })).text()
    expect(broken).toContain('Half an ')
    expect(broken).toContain('event: error')
    expect(broken).toContain('stream_interrupted')
    expect(broken).not.toContain('[DONE]')
    expect(broken).not.toContain('broke"')
  })

  test('ends the stream with an error after a frame with a wrong checksum', async () => {
    const torn = Buffer.from(text('never seen'))
    torn[torn.length - 5] = (torn[torn.length - 5] as number) ^ 1
    upstream.script(eventStream(START, text('Good.'), torn, STOP('end_turn'), METADATA))
    const broken = await (await app.call('/v1/chat', { model: CLAUDE, messages, stream: true })).text()
    expect(broken).toContain('Good.')
    expect(broken).toContain('stream_interrupted')
    expect(broken).not.toContain('never seen')
  })

  test('skips frames that it does not need', async () => {
    const later = writeFrame({ ':message-type': 'event', ':event-type': 'somethingNew' }, { a: 1 })
    upstream.script(eventStream(START, later, text('Hi.'), STOP('end_turn'), METADATA))
    const frames = framesOf(
      await (await app.call('/v1/chat', { model: CLAUDE, messages, stream: true })).text(),
    )
    expect(frames.at(-1)).toBe('[DONE]')
    expect(frames.at(-2)).toMatchObject({ usage: { input_tokens: 30, output_tokens: 5 } })
  })
})
