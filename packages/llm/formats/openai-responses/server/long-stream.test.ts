import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { DeltaEvent } from '../../../stream/stream-event.ts'
import { measureMs } from '../../../testing/measure-ms.ts'
import { BILL, toReplyContext } from '../../../testing/reply-context.ts'
import type { StreamEncoder } from '../../shared/answers/stream-encoder.ts'
import { CallItem } from './call-item.ts'
import { responsesServer } from './server.ts'

const CONTEXT = toReplyContext({ model: 'custom/m', provider: 'custom', format: 'openai-chat' })
const FRAME = { data: '', raw: Buffer.alloc(0) }
const END = {
  finishReason: 'stop',
  isFinishSent: true,
  isCut: false,
  isUsageSent: false,
  bill: BILL,
} as const

const add = (encoder: StreamEncoder, fields: Omit<DeltaEvent, 'type' | 'index'>): unknown =>
  encoder.encode([{ type: 'delta', index: 0, ...fields }], FRAME)

test('a translated stream has texts of 2 Mi characters of JSON, which its end repeats', () => {
  const encoder = responsesServer.openStream(CONTEXT)
  const text = 'x'.repeat(1024 * 1024)
  add(encoder, { reasoning: text })
  add(encoder, { content: text })
  expect(String(encoder.finish(END)).split(text)).toHaveLength(1 + 5)
  const longer = responsesServer.openStream(CONTEXT)
  add(longer, { reasoning: text })
  add(longer, { content: text })
  expect(() => add(longer, { content: 'x' })).toThrow('too long')
})

test.each([
  ['escapes', { content: '\u0001'.repeat(400_000) }],
  ['refusals', { refusal: 'x'.repeat(2_200_000) }],
  [
    'calls',
    { toolCalls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '"'.repeat(1_100_000) } }] },
  ],
])('%s count as they are written', (_, fields) => {
  expect(() => add(responsesServer.openStream(CONTEXT), fields)).toThrow('too long')
})

function toCommand(command: Json): JsonObject {
  const call = new CallItem(0, 'i', { callId: 'c', tool: { kind: 'local_shell', name: 'local_shell' } })
  call.addArguments(JSON.stringify({ command }))
  return call.toItem('completed')
}

test('a command has as many words as systems take, in a text or a list', () => {
  const words = Array.from({ length: 65_536 }, () => '-v')
  for (const command of [words, words.join(' ')])
    expect(toCommand(command).action).toMatchObject({ command: words })
  for (const command of [[...words, 1], `${words.join(' ')} 1`, ' '.repeat(2_000_000)])
    expect(() => toCommand(command)).toThrow('more than 65536 words')
})

test('a text of blanks is no command that takes long', () => {
  const blanks = JSON.stringify({ command: ' '.repeat(2_000_000) })
  const call = new CallItem(0, 'i', { callId: 'c', tool: { kind: 'local_shell', name: 'local_shell' } })
  call.addArguments(Buffer.from(blanks).toString('latin1'))
  expect(measureMs(() => expect(() => call.toItem('completed')).toThrow('words'))).toBeLessThan(12)
})
