import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { RequestContext } from '../request/request-context.ts'
import type { UpstreamCall } from '../upstream/transport.ts'
import { StreamWriter } from './stream-writer.ts'

/** A caller that reads nothing: each write fills its buffer. */
function slowCaller() {
  const res = Object.assign(new EventEmitter(), { headersSent: true, write: () => false, end: () => {} })
  const calls: string[] = []
  const source = {
    sentAt: 0,
    abort: () => calls.push('abort'),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  } as unknown as UpstreamCall
  const ctx = { res, isGone: false, startedAt: 0 } as unknown as RequestContext
  const writer = new StreamWriter(ctx, () => {})
  writer.attach(source)
  return { res, writer, calls }
}

test('pauses the provider once while the caller reads slowly, and resumes it after the drain', () => {
  const { res, writer, calls } = slowCaller()
  writer.write('a')
  writer.write('b')
  expect([calls, writer.isPaused]).toEqual([['pause'], true])
  res.emit('drain')
  expect([calls, writer.isPaused]).toEqual([['pause', 'resume'], false])
})

test('resumes a paused provider when the caller disconnects', () => {
  const { res, writer, calls } = slowCaller()
  writer.write('a')
  res.emit('close')
  expect(calls).toEqual(['pause', 'resume'])
})

test('resumes a paused provider when the answer has ended, so that its connection is freed', () => {
  const { writer, calls } = slowCaller()
  writer.end('the last frame')
  expect(calls).toEqual(['pause', 'resume'])
})

test('pauses the provider if a keep-alive fills the buffer, and the next one that is attached', () => {
  const { res, writer, calls } = slowCaller()
  writer.tick(60_000)
  writer.tick(120_000)
  expect([calls, writer.isPaused]).toEqual([['pause'], true])
  const next: string[] = []
  writer.attach({
    pause: () => next.push('pause'),
    resume: () => next.push('resume'),
  } as unknown as UpstreamCall)
  res.emit('drain')
  expect([calls, next]).toEqual([['pause'], ['pause', 'resume']])
})

test('records frames, also for a caller that is gone, and no keep-alives', () => {
  const recorded: (string | Uint8Array)[] = []
  const res = Object.assign(new EventEmitter(), { headersSent: true, write: () => true, end: () => {} })
  const recorder = { add: (frame: string | Uint8Array) => recorded.push(frame) }
  const ctx = { res, isGone: false, startedAt: 0, recorder } as unknown as RequestContext
  const writer = new StreamWriter(ctx, () => {})
  writer.write('a')
  writer.tick(performance.now() + 60_000)
  ctx.isGone = true
  writer.write('b')
  expect(recorded).toEqual(['a', 'b'])
})

test('sends the start of a frame as a keep-alive, and the frame without its start after it', () => {
  const sent: string[] = []
  const recorded: string[] = []
  const res = Object.assign(new EventEmitter(), {
    headersSent: true,
    write: (bytes: string | Uint8Array) => sent.push(Buffer.from(bytes).toString()),
    end: () => {},
  })
  const recorder = { add: (frame: string | Uint8Array) => recorded.push(Buffer.from(frame).toString()) }
  const ctx = { res, isGone: false, startedAt: 0, recorder } as unknown as RequestContext
  const writer = new StreamWriter(ctx, () => {}, { start: 'data: ', filler: ' ' })
  writer.tick(15_000)
  writer.tick(30_000)
  writer.tick(45_000)
  writer.startBatch()
  writer.write('data: 1')
  writer.write('data: 2')
  writer.endBatch()
  writer.tick(50_000)
  writer.tick(65_000)
  writer.write(Buffer.from('data: 3'))
  writer.tick(70_000)
  writer.tick(85_000)
  // A fault that is sent past the writer.
  sent.push(String(writer.withoutStart('data: 4')))
  expect(sent).toEqual(['data: ', ' ', ' ', '1data: 2', 'data: ', '3', 'data: ', '4'])
  expect(writer.withoutStart('data: 5')).toBe('data: 5')
  // Replays have no silence.
  expect(recorded).toEqual(['data: 1', 'data: 2', 'data: 3'])
})

test('sends a batch as one piece, and nothing for an empty one', () => {
  const sent: (string | Uint8Array)[] = []
  const res = Object.assign(new EventEmitter(), {
    headersSent: true,
    write: (bytes: string | Uint8Array) => sent.push(bytes),
    end: () => {},
  })
  const writer = new StreamWriter({ res, isGone: false, startedAt: 0 } as unknown as RequestContext, () => {})
  const writeBatch = (...batch: (string | Uint8Array)[]): void => {
    writer.startBatch()
    for (const each of batch) writer.write(each)
    expect(sent).toEqual([])
    writer.endBatch()
  }
  writeBatch()
  expect(sent.splice(0)).toEqual([])
  writeBatch('a', 'é')
  expect(sent.splice(0)).toEqual(['aé'])
  writeBatch(Buffer.from('a'))
  expect(sent.splice(0)).toEqual([Buffer.from('a')])
  writeBatch(Buffer.from('a'), 'é', Buffer.from('b'))
  expect(sent.splice(0)).toEqual([Buffer.from('aéb')])
  writer.write('later')
  expect(sent).toEqual(['later'])
})
