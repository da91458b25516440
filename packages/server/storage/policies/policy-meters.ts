import type { CurrentWindows } from '../../core/limits/current-windows.ts'
import type { FixedMeter, Meter } from '../../core/limits/meter.ts'
import { createBudgetMeter, createLimitMeter, createQuotaMeter } from '../../core/limits/owner-meters.ts'
import type { BudgetRow, LimitRow, QuotaRow } from '../policy-tables.ts'

/** Returns the meter of the budget's current window: the one that requests in that window use. */
export function toBudgetRowMeter(row: BudgetRow, windows: CurrentWindows): FixedMeter {
  const policy = {
    id: row.id,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    projectId: row.project_id,
    scope: row.scope,
    ref: row.counted_ref,
    limitNanoUsd: row.limit_nano_usd,
    window: row.window,
    alertPcts: row.alert_pcts,
    onTight: row.on_tight,
  }
  const whole = { orgId: row.org_id, projectId: row.project_id, environmentId: null }
  return createBudgetMeter(policy, whole, windows.get(policy.window, policy.createdAt))
}

/** Returns the meter of a quota's row. The scope default_end_user is excluded: it has a meter for each end user. */
export function toQuotaRowMeter(row: QuotaRow, windows: CurrentWindows): FixedMeter {
  const policy = {
    id: row.id,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    scope: row.scope,
    ref: row.counted_ref,
    metric: row.metric,
    window: row.window,
    limit: row.limit,
    gracePct: row.grace_pct,
  }
  const whole = { orgId: row.org_id, projectId: row.project_id, environmentId: row.environment_id }
  return createQuotaMeter(policy, whole, windows.get(policy.window, policy.createdAt))
}

/** The meter of a limit. Not for the scope default_end_user, which has a meter for each end user. */
export function toLimitRowMeter(row: LimitRow): Meter {
  const policy = {
    id: row.id,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    scope: row.scope,
    ref: row.counted_ref,
    metric: row.metric,
    limit: row.limit,
    windowMs: row.window_seconds === null ? null : row.window_seconds * 1000,
  }
  const whole = { orgId: row.org_id, projectId: row.project_id, environmentId: row.environment_id }
  return createLimitMeter(policy, whole)
}
