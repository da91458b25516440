import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { removeInBatches } from '../remove-in-batches.ts'
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

/** Removes alerts of windows that ended before a time. They keep a threshold from alerting twice, which needs an open window. */
export async function removeEndedAlerts(db: Db, before: Date, signal?: AbortSignal): Promise<void> {
  await removeInBatches(db, 'alerts', sql`window_end < ${before}`, signal)
}
