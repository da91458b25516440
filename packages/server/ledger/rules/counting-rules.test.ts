import { describe, expect, test } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import { type MeterKind, makeMeter, toUsage } from '../testing/make-meter.ts'
import {
  COUNTING_RULES,
  expiredAmount,
  growth,
  reservedAmount,
  ruleOf,
  settledAmount,
} from './counting-rules.ts'

const KINDS: readonly MeterKind[] = ['rate', 'token_rate', 'requests', 'tokens', 'budget', 'concurrency']
const AMOUNTS = { tokens: 30, nanoUsd: 60 }

const of = (kind: MeterKind): Meter => makeMeter(kind, 1)

describe('the counting rules', () => {
  test.each<[MeterKind, number, number, number]>([
    ['rate', 1, 1, 0],
    ['token_rate', 30, 30, 12],
    ['requests', 1, 1, 0],
    ['tokens', 30, 30, 12],
    ['budget', 60, 60, -20],
    ['concurrency', 1, 0, 0],
  ])(
    'for a %s reserve %i, count %i of an expired reservation, and grow by %i',
    (kind, reserved, expired, more) => {
      const rule = ruleOf(of(kind))
      expect(reservedAmount(rule, AMOUNTS)).toBe(reserved)
      expect(expiredAmount(rule, AMOUNTS)).toBe(expired)
      expect(growth(rule, AMOUNTS, { tokens: 42, nanoUsd: 40 })).toBe(more)
    },
  )

  test.each<[MeterKind, number, number, number, number]>([
    // A served request, one that was not served, one of the sandbox, and that where the meter excludes the sandbox.
    ['rate', 1, 1, 1, 1],
    ['token_rate', 5, 0, 5, 0],
    ['requests', 1, 0, 1, 0],
    ['tokens', 5, 0, 5, 0],
    ['budget', 7, 0, 7, 0],
    ['concurrency', 0, 0, 0, 0],
  ])(
    'for a %s settle %i served, %i unserved, %i of the sandbox, %i where it is excluded',
    (kind, ...expected) => {
      const served = toUsage({ tokens: 5, nanoUsd: 7 })
      const excluding = makeMeter(kind, 1, { subject: { excludesSandbox: true } })
      const rule = ruleOf(of(kind))
      expect([
        settledAmount(rule, of(kind), served),
        settledAmount(rule, of(kind), toUsage({ requests: 0 })),
        settledAmount(rule, of(kind), { ...served, isSandbox: true }),
        settledAmount(rule, excluding, { ...served, isSandbox: true }),
      ]).toEqual(expected)
      expect(settledAmount(rule, excluding, served)).toBe(expected[0])
    },
  )

  test('have codes of their own, which stay: reservations in Redis keep them', () => {
    expect(KINDS.map(kind => ruleOf(of(kind)).code)).toEqual([1, 2, 3, 4, 5, 6])
    expect(COUNTING_RULES.map(({ code }) => code)).toEqual([1, 2, 3, 4, 5, 6])
  })
})
