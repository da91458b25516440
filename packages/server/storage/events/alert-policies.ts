import { toUsd } from '@rideau/llm/usage/money'
import type { FixedMeter } from '../../core/limits/meter.ts'
import { findBudget } from '../policies/budgets.ts'
import { findQuota } from '../policies/quotas.ts'
import type { BudgetRow, QuotaRow } from '../policy-tables.ts'
import type { Db } from '../pool.ts'
import type { SystemEvent } from './system-events.ts'

/** A meter of a budget or quota with the amount that requests have used in its window. */
export interface SettledMeter {
  readonly meter: FixedMeter
  readonly settled: number
}

/** The thresholds of a budget or quota, and their events. */
export interface AlertPolicy {
  /** Percentages that the settled amount has reached. */
  readonly reached: readonly number[]
  readonly toEvent: (pct: number) => SystemEvent
}

/** The alert policy of the meter's budget or quota as it is stored now; undefined if it was removed. */
export async function findAlertPolicy(db: Db, settled: SettledMeter): Promise<AlertPolicy | undefined> {
  const { kind, id } = settled.meter.source
  if (kind === 'budget') {
    const budget = await findBudget(db, id)
    return budget === undefined ? undefined : toBudgetAlerts(budget, settled)
  }
  const quota = kind === 'quota' ? await findQuota(db, id) : undefined
  return quota === undefined ? undefined : toQuotaAlerts(quota, settled)
}

function toBudgetAlerts(row: BudgetRow, { meter, settled }: SettledMeter): AlertPolicy {
  const { limit_nano_usd: limit, alert_pcts } = row
  return {
    reached: alert_pcts.filter(pct => settled > 0 && settled >= Math.ceil((limit / 100) * pct)),
    toEvent: pct => ({
      orgId: row.org_id,
      type: 'budget.alert',
      resource: { kind: 'budgets', id: row.id },
      data: {
        budget_id: row.id,
        org_id: row.org_id,
        project_id: row.project_id,
        scope: row.scope,
        scope_ref: row.scope_ref,
        ...toWindow(row.window, meter),
        alert_pct: pct,
        limit_usd: toUsd(limit),
        spent_usd: toUsd(settled),
      },
    }),
  }
}

/** A quota with grace alerts once a window, when usage exceeds its limit. A quota without grace never alerts. */
function toQuotaAlerts(row: QuotaRow, { meter, settled }: SettledMeter): AlertPolicy {
  return {
    reached: row.grace_pct > 0 && settled > row.limit ? [100] : [],
    toEvent: () => ({
      orgId: row.org_id,
      type: 'quota.alert',
      resource: { kind: 'quotas', id: row.id },
      data: {
        quota_id: row.id,
        org_id: row.org_id,
        project_id: row.project_id,
        environment_id: row.environment_id,
        scope: row.scope,
        // For default_end_user: the end user whose usage exceeds the limit.
        scope_ref: row.scope === 'default_end_user' ? meter.source.ref : row.scope_ref,
        metric: row.metric,
        ...toWindow(row.window, meter),
        limit: row.limit,
        grace_pct: row.grace_pct,
        used: settled,
      },
    }),
  }
}

function toWindow(window: string, { since, end }: FixedMeter) {
  return {
    window,
    window_start: new Date(since).toISOString(),
    resets_at: end === null ? null : new Date(end).toISOString(),
  }
}
