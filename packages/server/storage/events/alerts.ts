import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { FixedMeter, Meter } from '../../core/limits/meter.ts'
import { toBudgetRowMeter, toQuotaRowMeter } from '../policies/policy-meters.ts'
import type { Db } from '../pool.ts'
import { openUsageSnapshot } from '../usage/usage-seeds.ts'
import { findAlertPolicy, type SettledMeter } from './alert-policies.ts'
import { type EventDeps, insertSystemEvent } from './system-events.ts'

/**
 * Raises each threshold that the amount has reached and that was not raised in this window, and returns their
 * percentages, ascending. An alert is an audit entry and an event for webhooks, in one transaction. The thresholds are
 * those of the policy as it is stored now; a removed policy raises nothing. Concurrent callers raise a threshold once.
 */
export async function raiseAlerts(db: Db, settled: SettledMeter, deps: EventDeps): Promise<number[]> {
  return await db.transaction().execute(async tx => {
    const policy = await findAlertPolicy(tx, settled)
    if (policy === undefined || policy.reached.length === 0) return []
    const { meter } = settled
    const raised = await tx
      .insertInto('alerts')
      .values(
        policy.reached.map(pct => ({
          counter: meter.key,
          pct,
          org_id: meter.subject.orgId,
          raised_at: new Date(deps.clock.now()),
          window_end: meter.end === null ? null : new Date(meter.end),
        })),
      )
      .onConflict(conflict => conflict.doNothing())
      .returning('pct')
      .execute()
    const pcts = raised.map(({ pct }) => pct).sort((a, b) => a - b)
    for (const pct of pcts) await insertSystemEvent(tx, policy.toEvent(pct), deps)
    return pcts
  })
}

/** Organizations that are not deleted and have usage since a time. undefined: whether they have usage or not. */
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
 * The organization's budgets and quotas that have reached a threshold, by the usage records of their windows at `at`
 * (Unix milliseconds). One statement sums them all. Quotas of the scope default_end_user are left out: they have a meter
 * for each end user.
 */
export async function listSettledMeters(
  { db, pool }: { readonly db: Db; readonly pool: Pool },
  { id, time_zone }: { readonly id: string; readonly time_zone: string },
  at: number,
): Promise<SettledMeter[]> {
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
  const snapshot = await openUsageSnapshot(pool)
  const seeds = await snapshot.listSeeds(meters, at, []).finally(() => snapshot.close())
  return meters
    .map((meter, index) => ({ meter, settled: seeds[index]?.used ?? 0 }))
    .filter(({ meter, settled }) => meter.alertThresholds.some(amount => amount <= settled))
}

function isSpan(meter: Meter): meter is FixedMeter {
  return meter.kind === 'fixed'
}

/** Removes alerts of windows that ended before a time. They keep a threshold from alerting twice, which needs an open window. */
export async function removeEndedAlerts(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('alerts').where('window_end', '<', before).execute()
}
