import { hasLiveProject } from '../live-owner.ts'
import type { PlanRow } from '../policy-tables.ts'
import type { Db } from '../pool.ts'
import { defineTable } from '../table.ts'
import { lockEnvironment } from '../tenancy/environments.ts'

const plans = defineTable('plans', hasLiveProject)

/** The end users of a removed plan get the default plan. */
export const { insert: insertPlan, find: findPlan, update: updatePlan, remove: removePlan } = plans

export const listPlans = plans.listBy('environment_id')

export function findPlanByName(db: Db, environmentId: string, name: string): Promise<PlanRow | undefined> {
  return plans.findMatch(db, { environment_id: environmentId, name })
}

/** The plan of end users who have none of their own; undefined if the environment has no default plan. */
export function findDefaultPlan(db: Db, environmentId: string): Promise<PlanRow | undefined> {
  return plans.findMatch(db, { environment_id: environmentId, is_default: true })
}

/**
 * Leaves the environment without a default plan, so that the transaction can set another one. Locks the environment
 * until the transaction ends: concurrent callers wait, and exactly one default plan remains.
 */
export async function clearDefaultPlan(tx: Db, environmentId: string, now: Date): Promise<void> {
  await lockEnvironment(tx, environmentId)
  await tx
    .updateTable('plans')
    .set({ is_default: false, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .execute()
}
