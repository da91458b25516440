import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import { BILL, toReplyContext } from '../../../testing/reply-context.ts'
import type { Target } from '../../../upstream/target.ts'
import { openAiResponses } from '../client/client.ts'
import { responsesServer } from './server.ts'

const TARGET = { provider: findProvider('openai'), model: 'gpt-5.5', baseUrl: '', apiKey: '' } as Target
const CONTEXT = toReplyContext({ model: 'openai/gpt-5.5', provider: 'openai', format: 'openai-responses' })

/** Passes events on, then ends the stream as a limit does. Returns what is written behind the events. */
function cut(...sent: readonly JsonObject[]): JsonObject[] {
  const encoder = responsesServer.openStream(CONTEXT, true)
  const decoder = openAiResponses.openStream(TARGET)
  const head = { id: 'resp_1', status: 'in_progress', output: [] }
  const events = [{ type: 'response.created', response: head }, ...sent]
  for (const [sequence_number, event] of events.entries()) {
    const data = JSON.stringify({ ...event, sequence_number })
    const raw = Buffer.from(`data: ${data}\n\n`)
    expect(encoder.measurePassable(raw)).toBe(0)
    expect(encoder.encode(decoder.decode(data), { data, raw })).toBe(raw)
  }
  const end = { finishReason: 'length', isFinishSent: false, isCut: true, isUsageSent: false } as const
  const frames = String(encoder.finish({ ...end, bill: BILL }))
  return [...frames.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonObject)
}

const MESSAGE = { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant', content: [] }
const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'secret' }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '' }
const add = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const end = (output_index: number, item: JsonObject): JsonObject => ({
  ...add(output_index, item),
  type: 'response.output_item.done',
})
const write = (delta: string): JsonObject => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 1,
  content_index: 0,
  delta,
})

test('ends the message that a limit cuts, and repeats all items that were shown', () => {
  const begun = { ...MESSAGE, phase: 'final_answer' }
  const events = cut(add(0, REASONING), end(0, REASONING), add(1, begun), write('Hello '), write('wor'))
  const part = { type: 'output_text', text: 'Hello wor', annotations: [], logprobs: [] }
  const message = { ...begun, status: 'incomplete', content: [part] }
  const place = { item_id: 'msg_1', output_index: 1, content_index: 0 }
  expect(events).toEqual([
    { type: 'response.output_text.done', ...place, text: 'Hello wor', logprobs: [], sequence_number: 6 },
    { type: 'response.content_part.done', ...place, part, sequence_number: 7 },
    { type: 'response.output_item.done', output_index: 1, item: message, sequence_number: 8 },
    {
      type: 'response.incomplete',
      response: expect.objectContaining({ id: 'resp_1', status: 'incomplete', output: [REASONING, message] }),
      sequence_number: 9,
    },
  ])
})

test('leaves out a call that a limit cuts, and keeps one that has ended', () => {
  const whole = { ...CALL, arguments: '{"a":1}' }
  const piece = { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a"' }
  const events = cut(add(0, CALL), end(0, whole), add(1, { ...CALL, id: 'fc_2' }), piece)
  expect(events).toMatchObject([{ type: 'response.incomplete', response: { output: [whole] } }])
})

test('repeats nothing of a stream that has shown more than a mebibyte', () => {
  const image = { type: 'image_generation_call', id: 'ig_1', result: 'A'.repeat(600_000) }
  const events = cut(end(0, image), add(1, MESSAGE), write('Hello '), end(2, image), write('more'))
  expect(events).toMatchObject([{ type: 'response.incomplete', response: { output: [] } }])
})

test('repeats nothing of a stream that has shown more values than one event may have', () => {
  const lists = Array(20_000).fill([])
  const first = { type: 'x', lists }
  expect(cut(end(0, first))).toMatchObject([{ response: { output: [first] } }])
  expect(cut(end(0, first), end(1, { type: 'x', lists }))).toMatchObject([{ response: { output: [] } }])
})

test('passes texts on undecoded where no limit can cut the stream', () => {
  const encoder = responsesServer.openStream(CONTEXT)
  const raw = Buffer.from(`data: ${JSON.stringify(write('Hello'))}\n\n`)
  expect(encoder.measurePassable(raw)).toBe(raw.length)
})
