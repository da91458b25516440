import { describe, expect, test } from 'vitest'
import type { LimitPolicy } from '../tenancy/policies.ts'
import { addGrace, toLimitMeter } from './policy-to-meter.ts'

const MAX = Number.MAX_SAFE_INTEGER

describe('a limit with grace', () => {
  test.each([
    [0, 50, 0],
    [1, 0, 1],
    [1, 99.9, 1],
    [1, 100, 2],
    [50, 14, 57],
    [100, 10, 110],
    [3, 100 / 3, 4],
    [999, 0.1, 999],
    [1000, 0.1, 1001],
    [1_000_000_007, 29, 1_290_000_009],
    [MAX, 0, MAX],
    [MAX, 100, MAX],
    [MAX - 1, 50, MAX],
  ])('with limit %i and grace %d % is %i', (limit, gracePct, withGrace) => {
    expect(addGrace(limit, gracePct)).toBe(withGrace)
  })
})

describe('the error code of a limit', () => {
  const caller = {
    orgId: 'o',
    projectId: 'p',
    environmentId: 'e',
    keyId: 'k',
    endUser: { id: 'u', plan: null, isBlocked: false },
  }

  test.each<[LimitPolicy['scope'], LimitPolicy['metric'], number | null, string]>([
    ['end_user', 'requests', 60_000, 'end_user_rpm_exceeded'],
    ['default_end_user', 'requests', 60_000, 'end_user_rpm_exceeded'],
    ['end_user', 'requests', 1_000, 'rate_limit_exceeded'],
    ['end_user', 'tokens', 60_000, 'rate_limit_exceeded'],
    ['key', 'requests', 60_000, 'rate_limit_exceeded'],
    ['end_user', 'concurrency', null, 'concurrency_limit_exceeded'],
    ['org', 'concurrency', null, 'concurrency_limit_exceeded'],
  ])('for the scope %s and %s per %d ms is %s', (scope, metric, windowMs, code) => {
    const policy = { id: 'l', createdAt: 0, updatedAt: 0, scope, ref: 'u', metric, limit: 1, windowMs }
    expect(toLimitMeter(policy, caller).source.code).toBe(code)
  })
})
