import { type RawBuilder, sql } from 'kysely'
import { hasLiveProject, isNotDeleted } from '../live-owner.ts'
import type { PlanRow } from '../policy-tables.ts'
import type { Db } from '../pool.ts'
import { defineTable } from '../table.ts'
import { lockEnvironment } from '../tenancy/environments.ts'

const plans = defineTable('plans', isLivePlan)

export const { insert: insertPlan, find: findPlan } = plans

export const listPlans = plans.listBy('environment_id', { deleted_at: null })

function isLivePlan(table: string): RawBuilder<boolean> {
  return sql<boolean>`${isNotDeleted(table)} and ${hasLiveProject(table)}`
}

export function findPlanByName(db: Db, environmentId: string, name: string): Promise<PlanRow | undefined> {
  return plans.findMatch(db, { environment_id: environmentId, name, deleted_at: null })
}

/** Changes the fields that are present. Returns the changed plan; undefined if it was deleted in the meantime. */
export async function updatePlan(
  db: Db,
  id: string,
  change: Partial<PlanRow>,
  now: Date,
): Promise<PlanRow | undefined> {
  return await db
    .updateTable('plans')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Deletes the plan: its end users have the default plan from now on. Their rows, of which there may be millions, still name it until
 * clearDeletedPlans has changed them. Returns false if there is no such plan.
 */
export async function removePlan(db: Db, id: string, now: Date): Promise<boolean> {
  return (await updatePlan(db, id, { deleted_at: now, is_default: false }, now)) !== undefined
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
