import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BudgetPolicy, LimitPolicy } from '../tenancy/policies.ts'
import { type MeteredCaller, selectBudgets, selectScoped } from './policy-scopes.ts'

/** Few, so that callers are often named, and so that an end user has the id of an environment now and then. */
const id = fc.constantFrom('a', 'b', 'c')
const caller: fc.Arbitrary<MeteredCaller> = fc.record({
  orgId: id,
  projectId: id,
  environmentId: id,
  keyId: fc.option(id),
  endUser: fc.option(fc.record({ id, plan: fc.constant(null), isBlocked: fc.constant(false) })),
})

const LIMIT: LimitPolicy = {
  id: 'l',
  createdAt: 0,
  updatedAt: 0,
  scope: 'org',
  ref: null,
  metric: 'requests',
  limit: 1,
  windowMs: 1,
}
const limit: fc.Arbitrary<LimitPolicy> = fc
  .record({
    scope: fc.constantFrom('org', 'project', 'environment', 'key', 'end_user', 'default_end_user'),
    ref: fc.option(id),
    metric: fc.constantFrom('requests', 'tokens'),
  })
  .map(fields => ({ ...LIMIT, ...fields, ref: fields.scope === 'default_end_user' ? null : fields.ref }))

const BUDGET: BudgetPolicy = {
  id: 'b',
  createdAt: 0,
  updatedAt: 0,
  projectId: null,
  scope: null,
  ref: null,
  limitNanoUsd: 1,
  window: 'day',
  alertPcts: [],
  onTight: 'cap',
}
const budget: fc.Arbitrary<BudgetPolicy> = fc
  .record({ projectId: fc.option(id), scope: fc.constantFrom('environment', 'key', null), ref: id })
  .map(fields => ({ ...BUDGET, ...fields, ref: fields.scope === null ? null : fields.ref }))

/** The ids of a caller that a scope may name. */
function idOf(scope: LimitPolicy['scope'], each: MeteredCaller): string | null | undefined {
  const { orgId, projectId, environmentId, keyId, endUser } = each
  return { org: orgId, project: projectId, environment: environmentId, key: keyId, end_user: endUser?.id }[
    scope as 'org'
  ]
}

test('limits that apply are those that name the caller, in their order', () => {
  fc.assert(
    fc.property(fc.array(limit, { maxLength: 30 }), caller, (limits, each) => {
      const own = limits.filter(
        ({ scope, ref }) => scope === 'end_user' && ref !== null && ref === each.endUser?.id,
      )
      const expected = limits.filter(policy => {
        if (policy.scope === 'end_user') return own.includes(policy)
        if (policy.scope === 'default_end_user')
          return each.endUser !== null && !own.some(({ metric }) => metric === policy.metric)
        return policy.ref === null || policy.ref === idOf(policy.scope, each)
      })
      expect(selectScoped(limits, each)).toEqual(expected)
      // The second time they come from what was kept.
      expect(selectScoped(limits, each)).toEqual(expected)
    }),
  )
})

test('budgets that apply are those of the organization and of the project', () => {
  fc.assert(
    fc.property(fc.array(budget, { maxLength: 30 }), caller, (budgets, each) => {
      const expected = budgets.filter(
        ({ projectId, scope, ref }) =>
          (projectId === null || projectId === each.projectId) &&
          (scope === null || ref === idOf(scope, each)),
      )
      expect(selectBudgets(budgets, each)).toEqual(expected)
    }),
  )
})

test('a policy is read at its first caller only, and by those whom it names', () => {
  let reads = 0
  const limits = Array.from({ length: 1_000 }, (_, at) => ({
    scope: 'end_user' as const,
    metric: 'tokens' as const,
    get ref() {
      reads++
      return `user ${at}`
    },
  }))
  const callerOf = (user: string): MeteredCaller => ({
    orgId: 'o',
    projectId: 'p',
    environmentId: 'e',
    keyId: 'k',
    endUser: { id: user, plan: null, isBlocked: false },
  })
  for (let at = 0; at < 100; at++) expect(selectScoped(limits, callerOf(`user ${at}`))).toHaveLength(1)
  // To read each policy for each caller would take 100,000.
  expect(reads).toBeLessThan(3_000)
})
