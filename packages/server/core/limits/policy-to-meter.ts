import type { FaultCode } from '../fault-table.ts'
import type { BudgetPolicy, LimitPolicy, PlanPolicy, QuotaPolicy } from '../tenancy/policies.ts'
import type { EndUser } from '../tenancy/tenancy.ts'
import type { WindowBounds } from '../tenancy/windows.ts'
import type { FixedMeter, Meter, MeterSource } from './meter.ts'
import { type MeteredCaller, resolveScope } from './policy-scopes.ts'

const MINUTE_MS = 60_000

/** The meter of a rate or concurrency limit, for the requests of this caller. */
export function toLimitMeter(policy: LimitPolicy, caller: MeteredCaller): Meter {
  const { id, metric, limit, windowMs, createdAt, updatedAt } = policy
  const { subject, scope, ref } = resolveScope(policy.scope, caller)
  const code = codeOfLimit(metric, scope === 'end_user', windowMs)
  const source: MeterSource = { kind: 'limit', id, scope, ref, code }
  const alertThresholds: number[] = []
  // All fields are named: a spread before further fields gives each object a hidden class of its own (docs/decisions/0011).
  if (metric === 'concurrency' || windowMs === null) {
    return {
      key: `l:${id}:${ref}`,
      kind: 'concurrency',
      metric: 'in_flight',
      subject,
      source,
      limit,
      nominalLimit: limit,
      alertThresholds,
      since: createdAt,
      changedAt: updatedAt,
    }
  }
  return {
    key: `l:${id}:${metric}:${windowMs}:${ref}`,
    kind: 'rolling',
    metric,
    windowMs,
    subject,
    source,
    limit,
    nominalLimit: limit,
    alertThresholds,
    since: createdAt,
    changedAt: updatedAt,
  }
}

function codeOfLimit(metric: LimitPolicy['metric'], isEndUser: boolean, windowMs: number | null): FaultCode {
  if (metric === 'concurrency') return 'concurrency_limit_exceeded'
  return metric === 'requests' && isEndUser && windowMs === MINUTE_MS
    ? 'end_user_rpm_exceeded'
    : 'rate_limit_exceeded'
}

/** The meter of a quota in one window, for the requests of this caller. */
export function toQuotaMeter(policy: QuotaPolicy, caller: MeteredCaller, bounds: WindowBounds): FixedMeter {
  const { id, metric, window, limit, gracePct, updatedAt } = policy
  const { subject, scope, ref } = resolveScope(policy.scope, caller)
  const withGrace = addGrace(limit, gracePct)
  return toFixedMeter(`q:${id}:${metric}:${window}:${ref}`, bounds, {
    metric,
    subject,
    source: { kind: 'quota', id, scope, ref, code: 'quota_exceeded' },
    limit: withGrace,
    nominalLimit: limit,
    // The first use of the grace raises an alert.
    alertThresholds: withGrace > limit ? [limit + 1] : [],
    changedAt: updatedAt,
  })
}

/** Returns limit × (1 + gracePct / 100), rounded down to a whole number. */
export function addGrace(limit: number, gracePct: number): number {
  // The product can be slightly below the whole number that it stands for: 50 × 14 / 100.
  const withGrace = Math.floor(limit + (limit * gracePct) / 100 + 1e-6)
  return Math.min(withGrace, Number.MAX_SAFE_INTEGER)
}

/** The meter of a budget in one window, for the requests of this caller. */
export function toBudgetMeter(policy: BudgetPolicy, caller: MeteredCaller, bounds: WindowBounds): FixedMeter {
  const { id, projectId, window, limitNanoUsd: limit, alertPcts, onTight, updatedAt } = policy
  const owner = projectId === null ? 'org' : 'project'
  const { subject, scope, ref } = resolveScope(policy.scope ?? owner, caller)
  return toFixedMeter(`b:${id}:${window}:${ref}`, bounds, {
    metric: 'nano_usd',
    // The sandbox has invented prices to try out a project's budgets with. They are no spend of the organization.
    subject: { ...subject, excludesSandbox: scope === 'org' },
    source: { kind: 'budget', id, scope, ref, code: 'budget_exceeded', onTight },
    limit,
    nominalLimit: limit,
    alertThresholds: alertPcts.map(pct => Math.ceil((limit / 100) * pct)).filter(amount => amount > 0),
    changedAt: updatedAt,
  })
}

/**
 * The meters of the bounds that a plan sets for one end user. Their keys do not contain the plan, so that usage is kept when
 * the end user changes to another plan.
 */
export function toPlanMeters(
  plan: PlanPolicy,
  endUser: EndUser,
  caller: MeteredCaller,
  findBounds: (window: 'day' | 'month') => WindowBounds,
): Meter[] {
  const { subject } = resolveScope('end_user', caller)
  const name = `p:${caller.environmentId}:${endUser.id}`
  const { createdAt: since, updatedAt: changedAt, requestsPerMinute, maxConcurrency } = plan
  const { tokensPerDay, nanoUsdPerMonth } = plan
  const base = (limit: number, code: FaultCode) => ({
    subject,
    source: { kind: 'plan', id: plan.id, scope: 'end_user', ref: endUser.id, code } as const,
    limit,
    nominalLimit: limit,
    alertThresholds: [],
    changedAt,
  })
  const meters: Meter[] = []
  if (requestsPerMinute !== null) {
    const rate = { kind: 'rolling', metric: 'requests', windowMs: MINUTE_MS } as const
    meters.push({ ...base(requestsPerMinute, 'end_user_rpm_exceeded'), ...rate, since, key: `${name}:rpm` })
  }
  if (maxConcurrency !== null) {
    const concurrency = { kind: 'concurrency', metric: 'in_flight' } as const
    const bound = base(maxConcurrency, 'concurrency_limit_exceeded')
    meters.push({ ...bound, ...concurrency, since, key: `${name}:slots` })
  }
  if (tokensPerDay !== null) {
    const day = { ...base(tokensPerDay, 'quota_exceeded'), metric: 'tokens' } as const
    meters.push(toFixedMeter(`${name}:tokens`, findBounds('day'), day))
  }
  if (nanoUsdPerMonth !== null) {
    const month = { ...base(nanoUsdPerMonth, 'budget_exceeded'), metric: 'nano_usd' } as const
    meters.push(toFixedMeter(`${name}:usd`, findBounds('month'), month))
  }
  return meters
}

function toFixedMeter(
  series: string,
  { start, end }: WindowBounds,
  rest: Omit<FixedMeter, 'key' | 'series' | 'kind' | 'since' | 'end'>,
): FixedMeter {
  const { metric, subject, source, limit, nominalLimit, alertThresholds, changedAt } = rest
  const key = `${series}@${start}`
  return {
    key,
    kind: 'fixed',
    series,
    metric,
    subject,
    source,
    limit,
    nominalLimit,
    alertThresholds,
    since: start,
    changedAt,
    end,
  }
}
