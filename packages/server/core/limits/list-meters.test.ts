import { describe, expect, test } from 'vitest'
import type { LimitPolicy, PlanPolicy, Policies, QuotaPolicy } from '../tenancy/policies.ts'
import { listMeters } from './list-meters.ts'
import type { MeteredCaller } from './policy-scopes.ts'

const AT = Date.UTC(2026, 10, 21, 12, 30)
const CALLER: MeteredCaller = {
  orgId: 'o',
  projectId: 'p',
  environmentId: 'e',
  keyId: 'k',
  endUser: { id: 'u', plan: null, isBlocked: false },
}
const NONE: Policies = {
  timeZone: 'UTC',
  limits: [],
  quotas: [],
  budgets: [],
  plans: [],
  hasSpecialEndUsers: false,
}

function list(policies: Partial<Policies>, caller: Partial<MeteredCaller> = {}) {
  return listMeters({ ...NONE, ...policies }, { ...CALLER, ...caller }, AT)
}

function rate(scope: LimitPolicy['scope'], ref: string | null, more: Partial<LimitPolicy> = {}): LimitPolicy {
  const id = `${scope}:${ref}`
  return {
    id,
    createdAt: 0,
    updatedAt: 0,
    scope,
    ref,
    metric: 'requests',
    limit: 9,
    windowMs: 60_000,
    ...more,
  }
}

function quota(more: Partial<QuotaPolicy>): QuotaPolicy {
  const base = {
    id: 'q',
    createdAt: 0,
    updatedAt: 0,
    scope: 'environment',
    ref: null,
    metric: 'tokens',
  } as const
  return { ...base, window: 'day', limit: 100, gracePct: 0, ...more }
}

describe('the meters of a caller', () => {
  test('include limits of its organization, project, environment, key and end user, and no others', () => {
    const limits = [
      rate('org', null),
      rate('project', 'p'),
      rate('project', 'other'),
      rate('environment', 'e'),
      rate('key', 'k'),
      rate('key', 'other'),
      rate('end_user', 'u'),
      rate('end_user', 'other'),
    ]
    expect(list({ limits }).meters.map(({ source }) => source.ref)).toEqual(['o', 'p', 'e', 'k', 'u'])
    expect(list({ limits }, { keyId: null, endUser: null }).meters.map(({ source }) => source.ref)).toEqual([
      'o',
      'p',
      'e',
    ])
  })

  test('include the default of end users for each metric without a limit of the end user itself', () => {
    const limits = [
      rate('default_end_user', null),
      rate('default_end_user', null, { id: 't', metric: 'tokens' }),
    ]
    expect(list({ limits }).meters).toHaveLength(2)
    expect(list({ limits: [...limits, rate('end_user', 'u')] }).meters.map(({ metric }) => metric)).toEqual([
      'tokens',
      'requests',
    ])
    expect(list({ limits }, { endUser: null }).meters).toEqual([])
    const [mine] = list({ limits }).meters
    const [other] = list({ limits }, { endUser: { id: 'v', plan: null, isBlocked: false } }).meters
    expect(mine?.key).not.toBe(other?.key)
  })

  test.each([
    [100, 0, 100, []],
    [100, 10, 110, [101]],
    [3, 33.4, 4, [4]],
    [50, 14, 57, [51]],
    [7, 10, 7, []],
  ])('a quota of %i with %d % grace is refused above %i', (limit, gracePct, most, alertThresholds) => {
    const [meter] = list({ quotas: [quota({ limit, gracePct })] }).meters
    expect(meter).toMatchObject({ limit: most, nominalLimit: limit, alertThresholds })
  })

  test('have the bounds of their windows, and the set is valid while all windows are current', () => {
    const set = list({ timeZone: 'Europe/Berlin', quotas: [quota({}), quota({ id: 'h', window: 'hour' })] })
    const [day] = set.meters
    expect(day).toMatchObject({
      kind: 'fixed',
      since: Date.UTC(2026, 10, 20, 23),
      end: Date.UTC(2026, 10, 21, 23),
    })
    expect([set.from, set.until]).toEqual([Date.UTC(2026, 10, 21, 12), Date.UTC(2026, 10, 21, 13)])
  })

  test("exclude the sandbox from the organization's budgets only", () => {
    const budget = {
      id: 'b',
      createdAt: 0,
      updatedAt: 0,
      scope: null,
      ref: null,
      limitNanoUsd: 200,
      window: 'month',
    } as const
    const budgets = [
      { ...budget, projectId: null, alertPcts: [50, 80], onTight: 'cap' as const },
      { ...budget, id: 'c', projectId: 'p', alertPcts: [], onTight: 'cap' as const },
      { ...budget, id: 'd', projectId: 'other', alertPcts: [], onTight: 'cap' as const },
    ]
    const set = list({ budgets })
    expect(set.meters.map(({ subject }) => subject.excludesSandbox)).toEqual([true, false])
    expect(set.sandboxMeters).toHaveLength(1)
    expect(set.meters[0]?.alertThresholds).toEqual([100, 160])
    expect([set.hasCostMeter, set.hasAmountMeter]).toEqual([true, true])
  })

  test("include the bounds of the end user's plan, otherwise of the default plan, and keep their keys when the plan changes", () => {
    const bounds = {
      allowedModels: null,
      scopes: null,
      maxConcurrency: 1,
      tokensPerDay: 2,
      nanoUsdPerMonth: 3,
    }
    const plan = (name: string, isDefault: boolean, requestsPerMinute: number): PlanPolicy => {
      return { id: name, createdAt: 0, updatedAt: 0, name, isDefault, requestsPerMinute, ...bounds }
    }
    const plans = [plan('free', true, 5), plan('pro', false, 50)]
    const free = list({ plans })
    const pro = list({ plans }, { endUser: { id: 'u', plan: 'pro', isBlocked: false } })
    expect(free.meters.map(({ source, limit }) => [source.code, limit])).toEqual([
      ['end_user_rpm_exceeded', 5],
      ['concurrency_limit_exceeded', 1],
      ['quota_exceeded', 2],
      ['budget_exceeded', 3],
    ])
    expect(pro.meters[0]?.limit).toBe(50)
    expect(pro.meters.map(({ key }) => key)).toEqual(free.meters.map(({ key }) => key))
    expect(list({ plans }, { endUser: null }).meters).toEqual([])
  })
})
