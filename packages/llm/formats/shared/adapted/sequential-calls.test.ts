import { expect, test } from 'vitest'
import { JsonEnd } from '../../../json/json-end.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import type { DeltaEvent, StreamEvent } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { MessageEncoder } from '../../anthropic-messages/server/encode-stream.ts'
import { ConverseEncoder } from '../../bedrock-converse/server/encode-stream.ts'
import { ChatEventEncoder } from '../../cohere-v2/server/encode-stream.ts'
import { SequentialCalls } from './sequential-calls.ts'

const USAGE: Usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const ENVELOPE = { id: 'a', created: 1, model: 'm' }

const start = (index: number, text = ''): DeltaEvent => ({
  type: 'delta',
  index: 0,
  toolCalls: [{ index, id: `c${index}`, type: 'function', function: { name: `f${index}`, arguments: text } }],
})
const piece = (index: number, text: string): DeltaEvent => ({
  type: 'delta',
  index: 0,
  toolCalls: [{ index, function: { arguments: text } }],
})
const text = (content: string): DeltaEvent => ({ type: 'delta', index: 0, content })

/** `0{` is a piece of call 0, `"hi"` a text. */
function show(deltas: readonly DeltaEvent[]): string[] {
  return deltas.map(({ content, toolCalls }) => {
    const [call] = toolCalls ?? []
    return call === undefined ? JSON.stringify(content) : `${call.index}${call.function?.arguments ?? ''}`
  })
}

function order(deltas: readonly DeltaEvent[]): string[] {
  const sequence = new SequentialCalls()
  return show([...deltas.flatMap(delta => [...sequence.order(delta)]), ...sequence.finish()])
}

test.each<[string, readonly DeltaEvent[], readonly string[]]>([
  [
    'calls one after the other pass at once',
    [start(0), piece(0, '{}'), start(1), piece(1, '{"a":'), piece(1, '1}')],
    ['0', '0{}', '1', '1{"a":', '11}'],
  ],
  [
    'pieces of a later call wait until the first one is whole',
    [start(0), start(1), piece(0, '{"a":'), piece(1, '{'), piece(0, '1}'), piece(1, '}')],
    ['0', '0{"a":', '01}', '1{', '1}'],
  ],
  [
    'a text waits for a call that is not whole',
    [start(0, '{'), text('hi'), piece(0, '}')],
    ['0{', '0}', '"hi"'],
  ],
  [
    'pieces of a text or a call that wait are joined',
    [start(0, '{'), text('h'), text('i'), start(1, '{'), piece(1, '"a"'), piece(1, ':1}'), piece(0, '}')],
    ['0{', '0}', '"hi"', '1{"a":1}'],
  ],
  [
    'white space after a text that followed a whole call is left out',
    [start(0, '{}'), text('hi'), piece(0, ' '), text('you')],
    ['0{}', '"hi"', '"you"'],
  ],
  [
    'arguments that are no JSON hold the next call up to the end',
    [start(0, '{] '), start(1, '{}'), piece(0, '}')],
    ['0{] ', '0}', '1{}'],
  ],
  ['a text follows a whole call', [start(0, '{}'), text('hi'), start(1, '{}')], ['0{}', '"hi"', '1{}']],
  ['calls without arguments come at the end', [start(0), start(1), start(2)], ['0', '1', '2']],
  [
    'brackets in strings end nothing',
    [start(0, '{"a":"}'), start(1, '{}'), piece(0, '\\""}')],
    [...['0{"a":"}', '0\\""}', '1{}']],
  ],
  [
    'white space after a whole call is left out',
    [start(0, '{}'), start(1, '{}'), piece(0, '\n')],
    ['0{}', '1{}'],
  ],
])('%s', (_, deltas, expected) => {
  expect(order(deltas)).toEqual(expected)
})

test('is ready for the next call with several calls in one event', () => {
  const both: DeltaEvent = {
    ...start(0, '{}'),
    toolCalls: [...(start(0, '{}').toolCalls ?? []), ...(start(1, '{}').toolCalls ?? [])],
  }
  expect(order([{ ...both, content: 'hi' }])).toEqual(['"hi"', '0{}', '1{}'])
})

test('orders 100,000 calls whose pieces alternate', () => {
  const calls = 100_000
  const sequence = new SequentialCalls()
  let count = 0
  for (let index = 0; index < calls; index++) count += sequence.order(start(index, '{')).length
  expect(count).toBe(1)
  for (let index = 0; index < calls; index++) count += sequence.order(piece(index, '}')).length
  expect(count + sequence.finish().length).toBe(2 * calls)
})

const PARALLEL = [start(0, '{"a":1}'), start(1), piece(1, '{"b":2}')]

function encode(encoder: { encode(event: StreamEvent): readonly object[] }, finish: () => readonly object[]) {
  return [...PARALLEL.flatMap(delta => [...encoder.encode(delta)]), ...finish()]
}

test('the first of two calls ends before the second begins, in the formats with blocks', () => {
  const message = new MessageEncoder(ENVELOPE)
  const blocks = encode(message, () => message.finish('tool_calls', USAGE)) as JsonObject[]
  expect(blocks.map(({ type, index }) => `${String(type)} ${String(index ?? '')}`.trim())).toEqual([
    'message_start',
    ...['content_block_start 0', 'content_block_delta 0', 'content_block_stop 0'],
    ...['content_block_start 1', 'content_block_delta 1', 'content_block_stop 1'],
    ...['message_delta', 'message_stop'],
  ])
  const converse = new ConverseEncoder()
  const events = encode(converse, () => converse.finish('tool_calls', USAGE, 1)) as {
    type: string
    body: JsonObject
  }[]
  expect(events.map(({ type, body }) => `${type} ${String(body.contentBlockIndex ?? '')}`.trim())).toEqual([
    'messageStart',
    ...['contentBlockStart 0', 'contentBlockDelta 0', 'contentBlockStop 0'],
    ...['contentBlockStart 1', 'contentBlockDelta 1', 'contentBlockStop 1'],
    ...['messageStop', 'metadata'],
  ])
  const cohere = new ChatEventEncoder(ENVELOPE)
  const parts = encode(cohere, () => cohere.finish('tool_calls', USAGE)) as JsonObject[]
  expect(parts.map(({ type, index }) => `${String(type)} ${String(index ?? '')}`.trim())).toEqual([
    'message-start',
    ...['tool-call-start 0', 'tool-call-delta 0', 'tool-call-end 0'],
    ...['tool-call-start 1', 'tool-call-delta 1', 'tool-call-end 1'],
    'message-end',
  ])
})

test.each([
  ['', false],
  ['{', false],
  ['{}', true],
  ['[{"a":"]}"}', false],
  ['[{"a":"]}\\""}]', true],
  ['"{}"', false],
  [' {} ', true],
  ['{]', false],
  ['{}{', false],
  ['{}x', false],
  ['x{}', false],
])('%j is a whole object or list: %s', (json, expected) => {
  const whole = new JsonEnd()
  for (const char of json) whole.add(char)
  expect(whole.isWhole).toBe(expected)
})

test('pieces of reasoning that wait are joined, and what cannot be joined waits in bounded numbers', () => {
  const reasoning = (written: string): DeltaEvent => ({ type: 'delta', index: 0, reasoning: written })
  const joined = new SequentialCalls()
  joined.order(start(0, '{'))
  for (let at = 0; at < 20_000; at++) expect(joined.order(reasoning('a'))).toEqual([])
  expect(joined.finish()).toEqual([reasoning('a'.repeat(20_000))])
  const mixed = new SequentialCalls()
  mixed.order(start(0, '{'))
  expect(() => {
    for (let at = 0; at < 10_000; at++) mixed.order(at % 2 === 0 ? reasoning('a') : text('b'))
  }).toThrow('too many pieces')
})

test('texts of 2 Mi characters together wait for the end of a call, and no more', () => {
  const sequence = new SequentialCalls()
  sequence.order(start(0, '{'))
  for (let at = 0; at < 32; at++) sequence.order(text('x'.repeat(64 * 1024)))
  expect(() => sequence.order(text('x'))).toThrow('too much of the answer')
  const ended = new SequentialCalls()
  for (let at = 0; at < 100; at++) {
    ended.order(start(at, '{'))
    ended.order(text('x'.repeat(64 * 1024)))
    expect(show(ended.order(piece(at, '}')))).toHaveLength(2)
  }
})
