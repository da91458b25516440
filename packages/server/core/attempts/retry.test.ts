import { describe, expect, test } from 'vitest'
import { backoffMs, MAX_ATTEMPTS, MAX_TARGETS, nextStep, nextStepWithin } from './retry.ts'

const alone = { hasOther: false, isNextTarget: false, retryAfterMs: undefined, retries: true }
const withOther = { ...alone, hasOther: true }

describe('after a failed attempt', () => {
  test.each(['rate_limited', 'overloaded', 'unavailable', 'interrupted'] as const)(
    '%s: another target, or the same one if there is no other',
    kind => {
      expect(nextStep(kind, 1, withOther)).toBe('other')
      expect(nextStep(kind, 1, alone)).toBe('same')
    },
  )

  test.each(['timeout', 'quota', 'auth', 'model_not_found'] as const)(
    '%s: another target, never the same',
    kind => {
      expect(nextStep(kind, 1, withOther)).toBe('other')
      expect(nextStep(kind, 1, alone)).toBe('stop')
    },
  )

  test.each(['bad_request', 'context_length', 'content_filter'] as const)(
    '%s: stop, because the same body would fail again',
    kind => {
      expect(nextStep(kind, 1, withOther)).toBe('stop')
    },
  )

  test('never makes more attempts than the limit', () => {
    expect(nextStep('overloaded', MAX_ATTEMPTS, withOther)).toBe('stop')
    expect(nextStep('unavailable', MAX_ATTEMPTS, alone)).toBe('stop')
    expect(nextStep('unavailable', MAX_TARGETS, { ...withOther, isNextTarget: true })).toBe('stop')
  })

  test('makes a fourth attempt only at a target that had none', () => {
    expect(nextStep('overloaded', MAX_ATTEMPTS, { ...withOther, isNextTarget: true })).toBe('other')
    expect(nextStep('bad_request', MAX_ATTEMPTS, { ...withOther, isNextTarget: true })).toBe('stop')
  })

  test('stops if the provider asks for more than five seconds, and leaves the wait to the caller', () => {
    expect(nextStep('rate_limited', 1, { ...alone, retryAfterMs: 5_000 })).toBe('same')
    expect(nextStep('rate_limited', 1, { ...alone, retryAfterMs: 5_001 })).toBe('stop')
  })

  test('follows x-should-retry instead of the table', () => {
    expect(nextStep('overloaded', 1, { ...alone, shouldRetry: false })).toBe('stop')
    expect(nextStep('timeout', 1, { ...alone, shouldRetry: true })).toBe('same')
    expect(nextStep('overloaded', 1, { ...withOther, shouldRetry: false })).toBe('other')
  })

  test('does not retry a target without retries', () => {
    expect(nextStep('overloaded', 1, { ...alone, retries: false })).toBe('stop')
  })
})

describe('at a target with max_retries', () => {
  const options = { retriesLeft: 2, hasCredential: false, hasTarget: true, retryAfterMs: undefined }

  test.each(['rate_limited', 'overloaded', 'unavailable', 'interrupted', 'timeout'] as const)(
    '%s: another credential, else the same again while there are retries, then the next target',
    kind => {
      expect(nextStepWithin(kind, { ...options, hasCredential: true })).toBe('other')
      expect(nextStepWithin(kind, options)).toBe('same')
      expect(nextStepWithin(kind, { ...options, retriesLeft: 0, hasCredential: true })).toBe('target')
      expect(nextStepWithin(kind, { ...options, retriesLeft: 0, hasTarget: false })).toBe('stop')
    },
  )

  test.each(['quota', 'auth', 'model_not_found'] as const)(
    '%s: another credential, else the next target, never the same again',
    kind => {
      expect(nextStepWithin(kind, { ...options, hasCredential: true })).toBe('other')
      expect(nextStepWithin(kind, options)).toBe('target')
    },
  )

  test('stops if the same body would fail again, and does not wait longer than five seconds', () => {
    expect(nextStepWithin('bad_request', { ...options, hasCredential: true })).toBe('stop')
    expect(nextStepWithin('rate_limited', { ...options, retryAfterMs: 5_001 })).toBe('target')
    expect(nextStepWithin('overloaded', { ...options, shouldRetry: false })).toBe('target')
  })
})

test('the backoff grows, is random, and is never shorter than the wait that the provider asked for', () => {
  expect(backoffMs(1, undefined, 0)).toBe(125)
  expect(backoffMs(1, undefined, 0.99)).toBeLessThan(250)
  expect(backoffMs(2, undefined, 0)).toBe(250)
  expect(backoffMs(1, 3_000, 0)).toBe(3_000)
  expect(backoffMs(10, undefined, 0.99)).toBeLessThanOrEqual(1_000)
})
