import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { Target } from '../../../upstream/target.ts'
import { decodeReply } from './decode-reply.ts'

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }

const first = (message: JsonObject, rest: JsonObject = { finish_reason: 'stop' }) =>
  decodeReply({ id: 'c', choices: [{ index: 0, message, ...rest }] }, target).choices[0]

describe('decodeReply', () => {
  test('a reply of text has no other fields', () => {
    expect(first({ role: 'assistant', content: 'a', tool_calls: null, refusal: null })).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'a' },
      finishReason: 'stop',
    })
  })

  test('refusal and reasoning are read', () => {
    expect(first({ content: null, refusal: 'no', reasoning_content: 'r' })?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'no',
      reasoning: 'r',
    })
  })

  test.each<[unknown, string]>([
    ['{"a":1}', '{"a":1}'],
    ['', '{}'],
    [null, '{}'],
    [undefined, '{}'],
    ['null', '{}'],
    [{ a: 1 }, '{"a":1}'],
  ])('arguments %j become the JSON text %s', (wire, expected) => {
    const call = {
      id: 'x',
      type: 'function',
      function: { name: 'f', arguments: wire },
    } as unknown as JsonObject
    expect(first({ content: null, tool_calls: [call] })?.message.tool_calls).toEqual([
      { id: 'x', type: 'function', function: { name: 'f', arguments: expected } },
    ])
  })

  test('each call without id gets one, the same for the same answer', () => {
    const call = { id: '', function: { name: 'f', arguments: '{}' } }
    const ids = () => first({ tool_calls: [call, call] })?.message.tool_calls?.map(({ id }) => id)
    expect(new Set(ids()).size).toBe(2)
    expect(ids()).toEqual(ids())
    expect(ids()?.[0]).toMatch(/^call_[0-9a-f]{24}$/)
  })

  test('function_call is a tool call', () => {
    expect(
      first({ function_call: { name: 'f', arguments: '{}' } }, { finish_reason: 'function_call' }),
    ).toMatchObject({
      finishReason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'f' } }] },
    })
  })

  test('a missing finish reason follows from the content', () => {
    expect(first({ content: 'a' }, {})?.finishReason).toBe('stop')
    expect(first({ tool_calls: [{ id: 'x', function: { name: 'f' } }] }, {})?.finishReason).toBe('tool_calls')
  })

  test('a filtered answer is an empty choice, and a failed one is left out', () => {
    expect(decodeReply({ choices: [{ index: 0, finish_reason: 'content_filter' }] }, target).choices).toEqual(
      [{ index: 0, message: { role: 'assistant', content: null }, finishReason: 'content_filter' }],
    )
    expect(
      decodeReply({ choices: [{ index: 0, message: {}, finish_reason: 'error' }] }, target).choices,
    ).toEqual([])
  })

  test('a body of another shape has no choices and throws nothing', () => {
    for (const body of [{}, { choices: null }, { choices: 5 }, { choices: [null, 5, 'x'] }, { usage: [] }]) {
      expect(decodeReply(body as JsonObject, target)).toEqual({ choices: [], usage: undefined })
    }
  })
})
