import { expect, test } from 'vitest'
import type { DeltaEvent } from '../../../stream/stream-event.ts'
import { BILL, toReplyContext } from '../../../testing/reply-context.ts'
import type { StreamEncoder } from '../../shared/answers/stream-encoder.ts'
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
