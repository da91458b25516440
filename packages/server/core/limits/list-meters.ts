import { findPlan, type PlanPolicy, type Policies } from '../tenancy/policies.ts'
import { CurrentWindows } from './current-windows.ts'
import type { Meter, MeterSubject } from './meter.ts'
import { type MeteredCaller, selectBudgets, selectScoped, subjectOf } from './policy-scopes.ts'
import { toBudgetMeter, toLimitMeter, toPlanMeters, toQuotaMeter } from './policy-to-meter.ts'

/** The meters of a caller's requests, valid while its policies and the calendar windows stay the same. */
export interface MeterSet {
  readonly meters: readonly Meter[]
  /** The meters of a request that only the sandbox may answer: without those that exclude the sandbox. */
  readonly sandboxMeters: readonly Meter[]
  /** True: a budget or a plan limits the caller's spend, so a model without a price is refused. */
  readonly hasCostMeter: boolean
  /** True: tokens or spend are limited, so the usage of a request is estimated before it is sent. */
  readonly hasAmountMeter: boolean
  /** The subject of the caller's requests. */
  readonly subject: MeterSubject
  readonly plan: PlanPolicy | undefined
  /** Unix milliseconds: the calendar windows of the set are current from `from` up to, but not including, `until`. */
  readonly from: number
  readonly until: number
}

/** Returns the meters of every limit, quota, budget and plan bound that applies to a caller at an instant. */
export function listMeters(policies: Policies, caller: MeteredCaller, at: number): MeterSet {
  const windows = new CurrentWindows(policies.timeZone, at)
  const { endUser } = caller
  const plan = endUser === null ? undefined : findPlan(policies.plans, endUser.plan)
  const meters: Meter[] = []
  for (const limit of selectScoped(policies.limits, caller)) meters.push(toLimitMeter(limit, caller))
  for (const quota of selectScoped(policies.quotas, caller)) {
    meters.push(toQuotaMeter(quota, caller, windows.get(quota.window, quota.createdAt)))
  }
  for (const budget of selectBudgets(policies.budgets, caller)) {
    meters.push(toBudgetMeter(budget, caller, windows.get(budget.window, budget.createdAt)))
  }
  if (plan !== undefined && endUser !== null) {
    meters.push(...toPlanMeters(plan, endUser, caller, window => windows.get(window, plan.createdAt)))
  }
  const hasCostMeter = meters.some(({ metric }) => metric === 'nano_usd')
  return {
    meters,
    sandboxMeters: meters.filter(({ subject }) => !subject.excludesSandbox),
    hasCostMeter,
    hasAmountMeter: hasCostMeter || meters.some(({ metric }) => metric === 'tokens'),
    subject: { ...subjectOf(caller), keyId: caller.keyId, endUserId: endUser?.id ?? null },
    plan,
    from: windows.from,
    until: windows.until,
  }
}
