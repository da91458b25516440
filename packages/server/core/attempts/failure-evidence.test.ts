import type { UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { expect, test } from 'vitest'
import { failureEvidence } from './failure-evidence.ts'

const of = (kind: UpstreamErrorKind, fields: object = {}, call: object = {}) =>
  failureEvidence({
    error: { kind, detail: '', ...fields },
    isSent: true,
    ms: 10,
    timeoutMs: 300_000,
    ...call,
  })

test.each([
  'rate_limited',
  'quota',
  'auth',
  'context_length',
  'content_filter',
  'model_not_found',
  'bad_request',
] as const)('%s says nothing about the target', kind => {
  expect(of(kind, { status: 500 })).toBe('none')
})

test('an unreachable target is certain, a connection that broke after the request was sent is not', () => {
  expect(of('unavailable', {}, { isSent: false })).toBe('certain')
  expect(of('unavailable', { status: 503 })).toBe('certain')
  expect(of('unavailable')).toBe('doubtful')
  expect(of('unavailable', { status: 500 })).toBe('doubtful')
  expect(of('unavailable', { status: 200 })).toBe('doubtful')
  expect(of('interrupted', { status: 200 })).toBe('doubtful')
})

test('an overload counts if the provider reports it without Retry-After', () => {
  expect(of('overloaded', { status: 529 })).toBe('certain')
  expect(of('overloaded', { status: 529, retryAfterMs: 1_000 })).toBe('none')
  expect(of('overloaded', { shouldRetry: false })).toBe('none')
})

test("a timeout counts only after the target's own time, whatever the request asked for", () => {
  expect(of('timeout', {}, { ms: 1_000 })).toBe('none')
  expect(of('timeout', {}, { ms: 300_000 })).toBe('doubtful')
  expect(of('timeout', {}, { ms: 1_000, timeoutMs: 1_000 })).toBe('doubtful')
  expect(of('timeout', {}, { isSent: false, ms: 1_000 })).toBe('none')
  expect(of('timeout', {}, { isSent: false, ms: 5_000 })).toBe('certain')
  expect(of('timeout', { status: 504 })).toBe('doubtful')
})
