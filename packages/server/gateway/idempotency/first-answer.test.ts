import { describe, expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { AnswerMemory } from './answer-memory.ts'
import { FirstAnswer } from './first-answer.ts'
import {
  decodeAnswer,
  encodeAnswer,
  MAX_ANSWER_BYTES,
  type StoredAnswer,
  toOwnMemory,
} from './stored-answer.ts'

function openReceiver() {
  const kept: StoredAnswer[] = []
  let nexts = 0
  return {
    kept,
    nexts: () => nexts,
    async keep(answer: StoredAnswer) {
      kept.push(answer)
    },
    next() {
      nexts++
    },
  }
}

const HEADERS = [
  'Content-Type',
  'text/event-stream',
  'X-Request-Id',
  'id',
  'X-Rideau-Model',
  'custom/m',
  'x-ratelimit-limit-requests',
  '1',
]

describe('a recorded stream', () => {
  test('keeps each frame and the headers that are not of one request', async () => {
    const receiver = openReceiver()
    const recorder = new FirstAnswer(receiver, undefined)
    const frames = ['data: é\n\n', Buffer.of(0, 255, 128), 'x'.repeat(10_000)]
    for (const frame of frames) recorder.add(frame)
    await recorder.keepStream(HEADERS, ['', 'data: [DONE]\n\n'])
    recorder.add('sent after that')
    recorder.end()
    const [answer] = receiver.kept as [StoredAnswer]
    expect(answer.headers).toEqual(['Content-Type', 'text/event-stream', 'X-Rideau-Model', 'custom/m'])
    expect(answer.frames).toEqual([9 + 1, 3, 10_000, 14])
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer)
    expect(answer.body.subarray(10, 13)).toEqual(Buffer.of(0, 255, 128))
    expect(receiver.nexts()).toBe(0)
  })

  test('leaves the key free if it is larger than what is kept', async () => {
    const receiver = openReceiver()
    const recorder = new FirstAnswer(receiver, undefined)
    const frame = Buffer.alloc(1024 * 1024)
    for (let n = 0; n <= MAX_ANSWER_BYTES / frame.length; n++) recorder.add(frame)
    await recorder.keepStream(HEADERS, [])
    recorder.end()
    recorder.end()
    expect([receiver.kept.length, receiver.nexts()]).toEqual([0, 1])
  })

  test('for which its credential has no memory left leaves the key free', async () => {
    const receiver = openReceiver()
    let held = 0
    const recorder = new FirstAnswer(receiver, {
      acquire(bytes) {
        if (held + bytes > 100_000) return new Fault('concurrency_limit_exceeded', 'full')
        held += bytes
        return undefined
      },
    })
    for (let n = 0; n < 200; n++) recorder.add(Buffer.alloc(1_000))
    await recorder.keepStream(HEADERS, [])
    recorder.end()
    expect([receiver.kept.length, receiver.nexts(), held <= 100_000]).toEqual([0, 1, true])
  })

  test('is no longer kept once it has ended', async () => {
    const receiver = openReceiver()
    const recorder = new FirstAnswer(receiver, undefined)
    recorder.end()
    await recorder.keepWhole(HEADERS, Buffer.from('late'))
    await recorder.keepStream(HEADERS, ['late'])
    expect([receiver.kept.length, receiver.nexts()]).toEqual([0, 1])
  })
})

test('a whole answer that is larger than what is kept leaves the key free', async () => {
  const receiver = openReceiver()
  const recorder = new FirstAnswer(receiver, undefined)
  await recorder.keepWhole(HEADERS, Buffer.alloc(MAX_ANSWER_BYTES + 1))
  recorder.end()
  expect([receiver.kept.length, receiver.nexts()]).toEqual([0, 1])
})

test('an answer that is remembered keeps no larger buffer', () => {
  const body = Buffer.alloc(64 * 1024, 'a').subarray(10, 20)
  const own = toOwnMemory({ headers: [], frames: [10], body })
  expect([own.body.toString(), own.body.buffer.byteLength, own.frames]).toEqual(['a'.repeat(10), 10, [10]])
})

describe('the memory of answers', () => {
  const remember = (bytes: number, expiresAt = 10) => ({
    bodyHash: Buffer.alloc(32),
    answer: { headers: [], frames: undefined, body: Buffer.alloc(bytes) },
    expiresAt,
  })

  test('forgets what was unused for longest once it is full', () => {
    const memory = new AnswerMemory(10_000)
    for (const key of ['a', 'b', 'c']) memory.add(key, remember(2_000))
    expect(memory.find('a', 0)).toBeDefined()
    memory.add('d', remember(2_000))
    expect(['a', 'b', 'c', 'd'].map(key => memory.find(key, 0) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  test('never returns an expired answer, and keeps no huge one', () => {
    const memory = new AnswerMemory(100_000_000)
    memory.add('a', remember(1, 10))
    memory.add('b', remember(2_000_000))
    expect([memory.find('a', 10), memory.find('b', 0)]).toEqual([undefined, undefined])
  })
})
