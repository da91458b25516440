import { toUsd } from '@rideau/llm/usage/money'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Meter, SpanMeter } from '../core/meter.ts'
import { findBudget } from './budgets.ts'
import { toBudgetRowMeter, toQuotaRowMeter } from './policy-meters.ts'
import type { BudgetRow, QuotaRow } from './policy-tables.ts'
import type { Db } from './pool.ts'
import { findQuota } from './quotas.ts'
import { type EventTools, insertSystemEvent, type SystemEvent } from './system-events.ts'
import { readSeeds } from './usage-seeds.ts'

/** How much of a budget or quota was used in one window, by the counter that its requests meet. */
export interface Standing {
  readonly meter: SpanMeter
  readonly settled: number
}

/**
 * Raises what the standing has reached and nobody raised yet in its window: into the audit log and on the way to
 * webhooks, all in one transaction. By the policy as it is stored now; of one that is gone, nothing. Answers the
 * percentages that were raised.
 */
export async function raiseAlerts(db: Db, standing: Standing, tools: EventTools): Promise<number[]> {
  return await db.transaction().execute(async tx => {
    const policy = await findPolicy(tx, standing)
    if (policy === undefined || policy.reached.length === 0) return []
    const { meter } = standing
    const raised = await tx
      .insertInto('alerts')
      .values(
        policy.reached.map(pct => ({
          counter: meter.key,
          pct,
          org_id: meter.subject.orgId,
          raised_at: new Date(tools.clock.now()),
          window_end: meter.end === null ? null : new Date(meter.end),
        })),
      )
      .onConflict(conflict => conflict.doNothing())
      .returning('pct')
      .execute()
    const pcts = raised.map(({ pct }) => pct).sort((a, b) => a - b)
    for (const pct of pcts) await insertSystemEvent(tx, policy.toEvent(pct), tools)
    return pcts
  })
}

interface Alerting {
  /** Percentages, ascending. */
  readonly reached: readonly number[]
  readonly toEvent: (pct: number) => SystemEvent
}

async function findPolicy(db: Db, standing: Standing): Promise<Alerting | undefined> {
  const { kind, id } = standing.meter.source
  if (kind === 'budget') {
    const budget = await findBudget(db, id)
    return budget === undefined ? undefined : toBudgetAlerting(budget, standing)
  }
  const quota = kind === 'quota' ? await findQuota(db, id) : undefined
  return quota === undefined ? undefined : toQuotaAlerting(quota, standing)
}

function toBudgetAlerting(row: BudgetRow, { meter, settled }: Standing): Alerting {
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

/** A quota says once a window that it lives by its grace. */
function toQuotaAlerting(row: QuotaRow, { meter, settled }: Standing): Alerting {
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
        // Of a default: the end user whose use it is.
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

function toWindow(window: string, { since, end }: SpanMeter) {
  return {
    window,
    window_start: new Date(since).toISOString(),
    resets_at: end === null ? null : new Date(end).toISOString(),
  }
}

/** Organizations that live and used something since a moment; undefined: all that live. */
export async function listOrganizationsWithUsage(
  db: Db,
  since: Date | undefined,
): Promise<{ readonly id: string; readonly time_zone: string }[]> {
  let query = db.selectFrom('organizations').select(['id', 'time_zone']).where('deleted_at', 'is', null)
  if (since !== undefined) {
    query = query.where(
      sql<boolean>`exists (select from usage_rollups r
        where r.org_id = organizations.id and r.span = 'hour' and r.bucket >= ${since})`,
    )
  }
  return await query.execute()
}

/**
 * How the budgets and quotas of an organization that can alert stand by the usage ledger, in their windows at `at`.
 * One statement that reads what each used since its window began. Without quotas that every end user has for itself.
 */
export async function readStandings(
  { db, pool }: { readonly db: Db; readonly pool: Pool },
  { id, time_zone }: { readonly id: string; readonly time_zone: string },
  at: number,
): Promise<Standing[]> {
  const budgets = await db.selectFrom('budgets').selectAll().where('org_id', '=', id).execute()
  const quotas = await db
    .selectFrom('quotas')
    .selectAll()
    .where('org_id', '=', id)
    .where('grace_pct', '>', 0)
    .where('scope', '!=', 'default_end_user')
    .execute()
  const meters = [
    ...budgets.filter(row => row.alert_pcts.length > 0).map(row => toBudgetRowMeter(row, time_zone, at)),
    ...quotas.map(row => toQuotaRowMeter(row, time_zone, at)),
  ].filter(isSpan)
  if (meters.length === 0) return []
  const seeds = await readSeeds(pool, meters, at, [])
  return meters
    .map((meter, index) => ({ meter, settled: seeds[index]?.used ?? 0 }))
    .filter(({ meter, settled }) => meter.alertAt.some(amount => amount <= settled))
}

function isSpan(meter: Meter): meter is SpanMeter {
  return meter.kind === 'span'
}

/** Forgets alerts of windows that ended before: nothing can reach them any more. */
export async function removeEndedAlerts(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('alerts').where('window_end', '<', before).execute()
}
