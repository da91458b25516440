import { describe, expect, test } from 'vitest'
import type { BudgetPolicy, Policies, QuotaPolicy } from '../tenancy/policies.ts'
import { CurrentWindows } from './current-windows.ts'
import { listMeters } from './list-meters.ts'
import { createBudgetMeter, createQuotaMeter } from './owner-meters.ts'

const AT = Date.UTC(2026, 10, 21, 12, 30)
const ZONE = 'Europe/Berlin'
const CALLER = {
  orgId: 'o',
  projectId: 'p',
  environmentId: 'e',
  keyId: 'k',
  endUser: { id: 'u', plan: null, isBlocked: false },
}

function metersOfRequest(policies: Partial<Policies>) {
  const none = { limits: [], quotas: [], budgets: [], plans: [], hasSpecialEndUsers: false }
  return listMeters({ ...none, timeZone: ZONE, ...policies }, CALLER, AT).meters
}

function boundsOf({ window, createdAt }: BudgetPolicy | QuotaPolicy) {
  return new CurrentWindows(ZONE, AT).get(window, createdAt)
}

describe('the meter of a policy that is read without a request', () => {
  test.each<Pick<BudgetPolicy, 'projectId' | 'scope' | 'ref'>>([
    { projectId: null, scope: null, ref: null },
    { projectId: 'p', scope: null, ref: null },
    { projectId: 'p', scope: 'environment', ref: 'e' },
    { projectId: 'p', scope: 'key', ref: 'k' },
  ])("has the counter of the policy's requests for a budget with $scope in project $projectId", scope => {
    const budget: BudgetPolicy = {
      ...scope,
      id: 'b',
      createdAt: 5,
      updatedAt: 5,
      limitNanoUsd: 1000,
      window: 'month',
      alertPcts: [50],
      onTight: 'cap',
    }
    const owner = { orgId: 'o', projectId: scope.projectId, environmentId: null }
    const [meter] = metersOfRequest({ budgets: [budget] })
    const read = createBudgetMeter(budget, owner, boundsOf(budget))
    expect(read.key).toBe(meter?.key)
    expect({ ...read, subject: null }).toEqual({ ...meter, subject: null })
  })

  test.each<Pick<QuotaPolicy, 'scope' | 'ref'>>([
    { scope: 'environment', ref: null },
    { scope: 'key', ref: 'k' },
    { scope: 'end_user', ref: 'u' },
  ])("has the counter and the subject of the policy's requests for a quota of scope $scope", scope => {
    const quota: QuotaPolicy = {
      ...scope,
      id: 'q',
      createdAt: 5,
      updatedAt: 5,
      metric: 'tokens',
      window: 'week',
      limit: 100,
      gracePct: 10,
    }
    const owner = { orgId: 'o', projectId: 'p', environmentId: 'e' }
    expect(createQuotaMeter(quota, owner, boundsOf(quota))).toEqual(metersOfRequest({ quotas: [quota] })[0])
  })

  test('counts a total budget from its creation, and names no project that an environment does not know', () => {
    const budget: BudgetPolicy = {
      id: 'b',
      createdAt: 5,
      updatedAt: 5,
      projectId: null,
      scope: 'environment',
      ref: 'e',
      limitNanoUsd: 1000,
      window: 'total',
      alertPcts: [],
      onTight: 'cap',
    }
    const owner = { orgId: 'o', projectId: null, environmentId: null }
    expect(createBudgetMeter(budget, owner, boundsOf(budget))).toMatchObject({
      since: 5,
      end: null,
      subject: { orgId: 'o', projectId: null, environmentId: 'e', keyId: null, endUserId: null },
    })
  })
})
