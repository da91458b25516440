import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { PlanRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertPlan(db: Db, row: PlanRow): Promise<PlanRow> {
  return await db.insertInto('plans').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The plan; undefined if it does not exist, or its project or organization is deleted. */
export async function findPlan(db: Db, id: string): Promise<PlanRow | undefined> {
  return await db
    .selectFrom('plans')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('plans'))
    .executeTakeFirst()
}

export async function findPlanByName(
  db: Db,
  environmentId: string,
  name: string,
): Promise<PlanRow | undefined> {
  return await db
    .selectFrom('plans')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('name', '=', name)
    .executeTakeFirst()
}

/** The plan of end users who have none of their own; undefined if the environment has no default plan. */
export async function findDefaultPlan(db: Db, environmentId: string): Promise<PlanRow | undefined> {
  return await db
    .selectFrom('plans')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .executeTakeFirst()
}

export async function listPlans(db: Db, environmentId: string, page: Page): Promise<PlanRow[]> {
  const query = db.selectFrom('plans').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updatePlan(db: Db, id: string, change: Partial<PlanRow>): Promise<PlanRow | undefined> {
  return await db.updateTable('plans').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

/**
 * Leaves the environment without a default plan, so that the transaction can set another one. Locks the environment
 * until the transaction ends: concurrent callers wait, and exactly one default plan remains.
 */
export async function clearDefaultPlan(tx: Db, environmentId: string, now: Date): Promise<void> {
  await tx.selectFrom('environments').select('id').where('id', '=', environmentId).forUpdate().execute()
  await tx
    .updateTable('plans')
    .set({ is_default: false, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .execute()
}

/** Removes the plan. Its end users get the default plan. */
export async function removePlan(db: Db, id: string): Promise<void> {
  await db.deleteFrom('plans').where('id', '=', id).execute()
}
