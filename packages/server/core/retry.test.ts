import { describe, expect, test } from 'vitest'
import { backoffMs, MAX_ATTEMPTS, MAX_TARGETS, nextStep } from './retry.ts'

const alone = { hasOther: false, isNextTarget: false, retryAfterMs: undefined, retries: true }
const withOther = { ...alone, hasOther: true }

describe('after a failed try', () => {
  test.each(['rate_limited', 'overloaded', 'unavailable', 'interrupted'] as const)(
    '%s: another target, or the same again where there is none',
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
    '%s: the same body would fail again',
    kind => {
      expect(nextStep(kind, 1, withOther)).toBe('stop')
    },
  )

  test('no request costs more tries than the limit, whatever happens', () => {
    expect(nextStep('overloaded', MAX_ATTEMPTS, withOther)).toBe('stop')
    expect(nextStep('unavailable', MAX_ATTEMPTS, alone)).toBe('stop')
    expect(nextStep('unavailable', MAX_TARGETS, { ...withOther, isNextTarget: true })).toBe('stop')
  })

  test('a third fallback is left for a target that had no try, and for nothing else', () => {
    expect(nextStep('overloaded', MAX_ATTEMPTS, { ...withOther, isNextTarget: true })).toBe('other')
    expect(nextStep('bad_request', MAX_ATTEMPTS, { ...withOther, isNextTarget: true })).toBe('stop')
  })

  test('a wait of more than five seconds is the caller’s to sit out', () => {
    expect(nextStep('rate_limited', 1, { ...alone, retryAfterMs: 5_000 })).toBe('same')
    expect(nextStep('rate_limited', 1, { ...alone, retryAfterMs: 5_001 })).toBe('stop')
  })

  test('the provider’s own word on repeating wins over the table', () => {
    expect(nextStep('overloaded', 1, { ...alone, shouldRetry: false })).toBe('stop')
    expect(nextStep('timeout', 1, { ...alone, shouldRetry: true })).toBe('same')
    expect(nextStep('overloaded', 1, { ...withOther, shouldRetry: false })).toBe('other')
  })

  test('a target on which repeating is pointless is not repeated', () => {
    expect(nextStep('overloaded', 1, { ...alone, retries: false })).toBe('stop')
  })
})

test('the wait grows, has chance in it, and is never shorter than what the provider asked', () => {
  expect(backoffMs(1, undefined, 0)).toBe(125)
  expect(backoffMs(1, undefined, 0.99)).toBeLessThan(250)
  expect(backoffMs(2, undefined, 0)).toBe(250)
  expect(backoffMs(1, 3_000, 0)).toBe(3_000)
})
