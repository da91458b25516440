import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { anthropicMessages } from './client.ts'

const target: Target = { provider: custom, model: 'claude-sonnet-5', baseUrl: 'https://x/v1', apiKey: '' }

function decode(...events: JsonObject[]): StreamEvent[] {
  const decoder = anthropicMessages.openStream(target)
  return events.flatMap(event => decoder.decode(JSON.stringify(event), String(event.type)))
}

const start = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, type: string, fields: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...fields },
})
const stop = (index: number) => ({ type: 'content_block_stop', index })

describe('usage', () => {
  test('counts cache writes for an hour apart, and replaces earlier totals by later ones', () => {
    const events = decode(
      {
        type: 'message_start',
        message: {
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 7,
            cache_creation_input_tokens: 30,
            cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
            output_tokens: 1,
          },
        },
      },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: 10, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      },
    )
    expect(events.at(-1)).toEqual({
      type: 'usage',
      usage: { uncachedInput: 10, cacheRead: 7, cacheWrite: 10, cacheWrite1h: 20, output: 5, reasoning: 4 },
    })
  })

  test('adds the tokens of a compaction before the answer', () => {
    const usage = {
      input_tokens: 5,
      output_tokens: 6,
      iterations: [
        { type: 'compaction', input_tokens: 100, output_tokens: 20 },
        { type: 'message', input_tokens: 5, output_tokens: 6 },
      ],
    }
    expect(anthropicMessages.decodeReply({ content: [], usage }, target).usage).toMatchObject({
      uncachedInput: 105,
      output: 26,
    })
  })

  test.each([null, undefined, {}, { input_tokens: 'x' }, { output_tokens: -1 }])('%j is no usage', usage => {
    expect(
      anthropicMessages.decodeReply({ content: [], usage: usage as unknown as JsonObject }, target).usage,
    ).toBeUndefined()
  })
})

describe('streams', () => {
  test('message_start gives the role only', () => {
    expect(
      decode({ type: 'message_start', message: { usage: { input_tokens: 3 } } }, { type: 'ping' }),
    ).toEqual([{ type: 'delta', index: 0, role: 'assistant' }])
  })

  test('numbers calls apart from other blocks, and gives a call without arguments an empty object', () => {
    const events = decode(
      start(0, { type: 'text', text: '' }),
      delta(0, 'text_delta', { text: 'a' }),
      stop(0),
      start(1, { type: 'tool_use', id: 't1', name: 'f', input: {} }),
      stop(1),
      start(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(2, 'input_json_delta', { partial_json: '{"q":1}' }),
      stop(2),
      start(3, { type: 'tool_use', id: 't2', name: 'g', input: {} }),
      delta(3, 'input_json_delta', { partial_json: '{"a"' }),
      delta(3, 'input_json_delta', { partial_json: ':1}' }),
      stop(3),
    )
    expect(events.flatMap(event => (event.type === 'delta' ? (event.toolCalls ?? []) : []))).toEqual([
      { index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 0, function: { arguments: '{}' } },
      { index: 1, id: 't2', type: 'function', function: { name: 'g', arguments: '' } },
      { index: 1, function: { arguments: '{"a"' } },
      { index: 1, function: { arguments: ':1}' } },
    ])
  })

  test('gives thinking with its signature, and packs it into the id of the next call only', () => {
    const events = decode(
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', { thinking: 'hm' }),
      delta(0, 'signature_delta', { signature: 'sig' }),
      stop(0),
      start(1, { type: 'redacted_thinking', data: 'x' }),
      stop(1),
      start(2, { type: 'tool_use', id: 't1', name: 'f', input: {} }),
      stop(2),
      start(3, { type: 'tool_use', id: 't2', name: 'f', input: {} }),
      stop(3),
    )
    const details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 'sig', index: 0 },
      { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'x', index: 1 },
    ]
    expect(events.flatMap(event => (event.type === 'delta' ? (event.reasoningDetails ?? []) : []))).toEqual(
      details,
    )
    const ids = events.flatMap(event =>
      event.type === 'delta' ? (event.toolCalls ?? []).flatMap(({ id }) => id ?? []) : [],
    )
    expect(unpackToolCallId(ids[0] ?? '')).toEqual({ id: 't1', details })
    expect(ids[1]).toBe('t2')
  })

  test('ignores a block of an unknown type', () => {
    expect(
      decode(start(0, { type: 'hologram' }), delta(0, 'hologram_delta', { x: 1 }), stop(0), {
        type: 'novelty',
      }),
    ).toEqual([])
  })

  test.each([
    ['overloaded_error', 'Overloaded', 'overloaded', 529],
    ['api_error', 'Internal server error', 'unavailable', 500],
    ['rate_limit_error', 'slow down', 'rate_limited', 429],
    ['invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum', 'context_length', 400],
    ['invalid_request_error', 'no', 'bad_request', 400],
    ['api_error', 'prompt is too long: 3 tokens > 2 maximum', 'unavailable', 500],
    ['api_error', 'Overloaded', 'overloaded', 500],
    ['not_found_error', 'model: x', 'model_not_found', 404],
    ['permission_error', 'no', 'auth', 403],
    ['timeout_error', 'too slow', 'timeout', 504],
  ])('an error event of the type %s', (type, message, kind, status) => {
    expect(decode({ type: 'error', error: { type, message } })).toEqual([
      { type: 'error', error: { kind, status, message, detail: `${type}: ${message}` } },
    ])
  })

  test('an error event of an unknown type is read by its words', () => {
    const error = { type: 'novel_error', message: 'prompt is too long: 3 tokens > 2 maximum' }
    expect(decode({ type: 'error', error })).toMatchObject([
      { type: 'error', error: { kind: 'context_length' } },
    ])
  })

  test('an event that is not JSON is an interruption', () => {
    expect(anthropicMessages.openStream(target).decode('{"type":')).toMatchObject([
      { type: 'error', error: { kind: 'interrupted' } },
    ])
  })
})

describe('stop reasons', () => {
  test.each([
    ['end_turn', 'stop'],
    ['pause_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['tool_use', 'stop'],
    ['novelty', 'stop'],
  ])('%s without a call is %s', (stop_reason, finishReason) => {
    const { choices } = anthropicMessages.decodeReply({ content: [], stop_reason }, target)
    expect(choices[0]?.finishReason).toBe(finishReason)
  })

  test('gives the explanation of a refusal, plain and streamed', () => {
    const stop_details = { type: 'refusal', explanation: 'not this' }
    const { choices } = anthropicMessages.decodeReply(
      { content: [], stop_reason: 'refusal', stop_details },
      target,
    )
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: null, refusal: 'not this' })
    expect(decode({ type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } })).toEqual([
      { type: 'delta', index: 0, refusal: 'not this', finishReason: 'content_filter' },
    ])
  })
})

describe('errors', () => {
  const fail = (status: number, type: string, message: string, headers = {}) =>
    anthropicMessages.decodeError(
      status,
      headers,
      JSON.stringify({ type: 'error', error: { type, message } }),
    )

  test.each([
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
    [500, 'api_error', 'Overloaded', 'overloaded'],
    [500, 'api_error', 'oops', 'unavailable'],
    [500, 'api_error', 'prompt is too long: 3 tokens > 2 maximum', 'unavailable'],
    [500, 'authentication_error', 'oops', 'unavailable'],
    [500, 'request_too_large', 'oops', 'unavailable'],
    [504, 'timeout_error', 'too slow', 'timeout'],
    [400, 'invalid_request_error', 'prompt is too long: 208656 tokens > 200000 maximum', 'context_length'],
    [
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000',
      'context_length',
    ],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'context_length'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.', 'quota'],
    [401, 'authentication_error', 'invalid x-api-key', 'auth'],
    [403, 'permission_error', 'no', 'auth'],
    [404, 'not_found_error', 'model: claude-nothing', 'model_not_found'],
    [429, 'rate_limit_error', 'This request would exceed your rate limit', 'rate_limited'],
    [400, 'invalid_request_error', 'context_management: Extra inputs are not permitted', 'bad_request'],
  ])('%i %s %s is %s', (status, type, message, kind) => {
    expect(fail(status, type, message)).toMatchObject({ kind, status })
  })

  test('the wait is that of retry-after, else until the used-up limit resets', () => {
    expect(fail(429, 'rate_limit_error', 'x', { 'retry-after': '7' }).retryAfterMs).toBe(7000)
    expect(
      fail(429, 'rate_limit_error', 'x', {
        date: 'Sat, 21 Nov 2026 10:00:00 GMT',
        'anthropic-ratelimit-requests-remaining': '5',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-21T10:00:30Z',
      }).retryAfterMs,
    ).toBe(30_000)
  })

  test('a reply with an error has no choices', () => {
    expect(anthropicMessages.decodeReply({ type: 'error', error: { type: 'x' } }, target).choices).toEqual([])
  })
})
