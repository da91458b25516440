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
    isSent: true,
    abort: () => calls.push('abort'),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  } as unknown as UpstreamCall
  const ctx = { res, isGone: false, startedAt: 0 } as unknown as RequestContext
  const writer = new StreamWriter(ctx, () => {})
  writer.attach(source)
  return { res, writer, calls }
}

test('a provider is held back once while its caller reads slowly, until the caller has read', () => {
  const { res, writer, calls } = slowCaller()
  writer.write('a')
  writer.write('b')
  expect([calls, writer.isPaused]).toEqual([['pause'], true])
  res.emit('drain')
  expect([calls, writer.isPaused]).toEqual([['pause', 'resume'], false])
})

test('a provider that is held back goes on when the caller leaves', () => {
  const { res, writer, calls } = slowCaller()
  writer.write('a')
  res.emit('close')
  expect(calls).toEqual(['pause', 'resume'])
})

test('a provider that is held back goes on when the answer has ended: its connection is wanted', () => {
  const { writer, calls } = slowCaller()
  writer.end('the last frame')
  expect(calls).toEqual(['pause', 'resume'])
})
