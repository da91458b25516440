import { isAfter, type Page } from './page.ts'
import type { PlanRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertPlan(db: Db, row: PlanRow): Promise<PlanRow> {
  return await db.insertInto('plans').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findPlan(db: Db, id: string): Promise<PlanRow | undefined> {
  return await db
    .selectFrom('plans')
    .innerJoin('projects', 'projects.id', 'plans.project_id')
    .innerJoin('organizations', 'organizations.id', 'plans.org_id')
    .selectAll('plans')
    .where('plans.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
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

/** What counts for end users without a plan of their own; undefined: nothing does. */
export async function findDefaultPlan(db: Db, environmentId: string): Promise<PlanRow | undefined> {
  return await db
    .selectFrom('plans')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .executeTakeFirst()
}

export async function listPlans(db: Db, environmentId: string, page: Page): Promise<PlanRow[]> {
  return await db
    .selectFrom('plans')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The row as it then stands; undefined where it has gone meanwhile. */
export async function updatePlan(db: Db, id: string, change: Partial<PlanRow>): Promise<PlanRow | undefined> {
  return await db.updateTable('plans').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

/**
 * Makes room for another default plan. Until the transaction ends, whoever else sets one waits here, so that two at
 * once leave one.
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

/** Its end users fall back to the default plan. */
export async function removePlan(db: Db, id: string): Promise<void> {
  await db.deleteFrom('plans').where('id', '=', id).execute()
}
