import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { cohere } from '../../../providers/cohere.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { addUp } from '../../../testing/add-up.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS as OPENAI_FIELDS } from '../../openai-chat/wire/fields.ts'
import { cohereV2 } from './client.ts'

const REASONER = 'command-a-reasoning-08-2025'
const weather = { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }
const time = { type: 'function' as const, function: { name: 'time' } }

function encode(fields: Partial<ChatRequest>, model = REASONER, dropped: readonly string[] = []): JsonObject {
  const request: ChatRequest = { model: 'x', messages: [], stream: false, includeUsage: true, ...fields }
  const target: Target = { provider: cohere, model, baseUrl: 'https://api.cohere.com/v2', apiKey: '' }
  return JSON.parse(cohereV2.encodeRequest(request, target, undefined, dropped).body.toString())
}

const unsupported = (fields: Partial<ChatRequest>, model = REASONER): readonly string[] =>
  cohereV2.listUnsupportedParams(
    { model: 'x', messages: [], stream: false, includeUsage: true, ...fields },
    cohere,
    model,
  )

describe('encodeRequest', () => {
  test('one function that must be called is the only one told of', () => {
    const toolChoice = { type: 'function' as const, function: { name: 'time' } }
    expect(encode({ tools: [weather, time], toolChoice })).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'time', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'REQUIRED',
    })
    expect(encode({ tools: [weather], toolChoice: 'none' }).tool_choice).toBe('NONE')
    expect(encode({ tools: [weather], toolChoice: 'auto' })).not.toHaveProperty('tool_choice')
  })

  test('an effort is thinking with a budget, the highest without one; what does not reason refuses it', () => {
    expect(encode({ reasoningEffort: 'low' }).thinking).toEqual({ type: 'enabled', token_budget: 2048 })
    expect(encode({ reasoningEffort: 'high' }).thinking).toEqual({ type: 'enabled' })
    expect(encode({ reasoningEffort: 'none' }).thinking).toEqual({ type: 'disabled' })
    expect(encode({ reasoningEffort: 'low' }, 'command-r7b-12-2024')).not.toHaveProperty('thinking')
    expect(unsupported({ reasoningEffort: 'low' }, 'command-r7b-12-2024')).toEqual(['reasoning_effort'])
    expect(unsupported({ reasoningEffort: 'none' }, 'command-r7b-12-2024')).toEqual([])
  })

  test('names are spelled its way, and what is to be dropped goes under that spelling', () => {
    expect(encode({ topP: 0.5, stop: ['x'], maxOutputTokens: 9 })).toMatchObject({
      p: 0.5,
      stop_sequences: ['x'],
      max_tokens: 9,
    })
    const all = encode({ topP: 0.5, stop: ['x'], reasoningEffort: 'low', seed: 1 }, REASONER, [
      'top_p',
      'stop',
      'reasoning_effort',
      'seed',
    ])
    expect(Object.keys(all).sort()).toEqual(['messages', 'model', 'stream'])
  })

  test('calls lose what the gateway packed into their ids, and carry the plan', () => {
    const call = { id: 'c1__rd1__AAAA', type: 'function' as const, function: { name: 'time', arguments: '' } }
    const messages = [
      { role: 'developer', content: 'Be kind.' },
      { role: 'assistant', content: null, reasoning: 'I look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1__rd1__AAAA', content: 'noon' },
    ] as const
    expect(encode({ messages: messages as unknown as ChatRequest['messages'] }).messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'time', arguments: '{}' } }],
        tool_plan: 'I look.',
      },
      { role: 'tool', tool_call_id: 'c1', content: 'noon' },
    ])
  })

  test('what it has no place for is named: parallel calls off, penalties out of range, files, unknown fields', () => {
    const messages = [
      {
        role: 'user' as const,
        content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,' } }],
      },
    ]
    expect(
      unsupported({ parallelToolCalls: false, presencePenalty: -1, frequencyPenalty: 1.5, messages }),
    ).toEqual(['parallel_tool_calls', 'presence_penalty', 'frequency_penalty', 'file'])
    const body = { model: 'x', messages: [], k: 3, logit_bias: { 1: 2 }, n: 1, store: false, made_up: 1 }
    const extra = OPENAI_FIELDS.readExtra(body)
    const request: ChatRequest = {
      model: 'x',
      messages: [],
      stream: false,
      includeUsage: true,
      ...(extra && { extra }),
    }
    expect(cohereV2.listUnsupportedParams(request, cohere, REASONER)).toEqual(['logit_bias', 'made_up'])
    const target: Target = { provider: cohere, model: REASONER, baseUrl: 'https://a.example/v2', apiKey: '' }
    expect(JSON.parse(cohereV2.encodeRequest(request, target, undefined).body.toString())).toMatchObject({
      k: 3,
    })
  })
})

describe('streams', () => {
  const decode = (...frames: object[]) => {
    const target: Target = { provider: cohere, model: REASONER, baseUrl: '', apiKey: '' }
    const decoder = cohereV2.openStream(target)
    return addUp(frames.flatMap(frame => decoder.decode(JSON.stringify(frame))))
  }
  const start = (index: number) => ({
    type: 'tool-call-start',
    index,
    delta: {
      message: { tool_calls: { id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' } } },
    },
  })
  const piece = (index: number, text: string) => ({
    type: 'tool-call-delta',
    index,
    delta: { message: { tool_calls: { function: { arguments: text } } } },
  })
  const end = (index: number) => ({ type: 'tool-call-end', index })

  test.each([
    [['null'], '{}'],
    [['nu', 'll'], '{}'],
    [[], '{}'],
    [['{"n', 'ull":1}'], '{"null":1}'],
    [['n', 'o'], 'no'],
  ])('arguments %j are %s', (pieces, expected) => {
    expect(decode(start(3), ...pieces.map(text => piece(3, text)), end(3)).calls).toEqual([
      { id: 'c3', name: 'f', arguments: expected },
    ])
  })

  test('an answer that failed is an error, with what it used', () => {
    const usage = { billed_units: { input_tokens: 3, output_tokens: 4 } }
    const sum = decode({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'broke', usage } })
    expect(sum).toMatchObject({
      error: { kind: 'unavailable', detail: 'broke' },
      usage: { uncachedInput: 3, output: 4 },
    })
  })

  test('a frame without a type is an error; one of an unknown type is nothing', () => {
    expect(decode({ message: 'too many requests' }).error?.kind).toBe('rate_limited')
    expect(decode({ type: 'something-new' })).toMatchObject({ content: '', error: undefined })
  })
})

test('a plain answer that failed has no choices', () => {
  const answer = { message: { role: 'assistant', content: [] }, finish_reason: 'ERROR' }
  const target: Target = { provider: cohere, model: REASONER, baseUrl: '', apiKey: '' }
  expect(cohereV2.decodeReply(answer, target).choices).toEqual([])
})
