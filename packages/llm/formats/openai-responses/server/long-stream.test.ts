import { expect, test } from 'vitest'
import type { DeltaEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { StreamEncoder } from '../../shared/answers/stream-encoder.ts'
import type { ReplyContext } from '../../shared/server-format.ts'
import { responsesServer } from './server.ts'

const CONTEXT = {
  requestId: '01890000-0000-7000-8000-000000000000',
  created: 1,
  clock: { elapsedMs: () => 0 },
  model: 'custom/m',
  provider: 'custom',
  format: 'openai-chat',
  isSandbox: false,
  includeUsage: true,
  parsed: {},
} as ReplyContext
const BILL = {
  usage: { uncachedInput: 5, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 0 },
  costNanoUsd: 1,
} as Bill
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
