import { isAfter, type Page } from './page.ts'
import type { BudgetRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertBudget(db: Db, row: BudgetRow): Promise<BudgetRow> {
  return await db.insertInto('budgets').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project, where it has one, or organization was deleted. */
export async function findBudget(db: Db, id: string): Promise<BudgetRow | undefined> {
  return await db
    .selectFrom('budgets')
    .leftJoin('projects', 'projects.id', 'budgets.project_id')
    .innerJoin('organizations', 'organizations.id', 'budgets.org_id')
    .selectAll('budgets')
    .where('budgets.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Those that were made for the organization itself. */
export async function listOrganizationBudgets(db: Db, orgId: string, page: Page): Promise<BudgetRow[]> {
  return await db
    .selectFrom('budgets')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', 'is', null)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

export async function listProjectBudgets(db: Db, projectId: string, page: Page): Promise<BudgetRow[]> {
  return await db
    .selectFrom('budgets')
    .selectAll()
    .where('project_id', '=', projectId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The row as it then stands; undefined where it has gone meanwhile. */
export async function updateBudget(
  db: Db,
  id: string,
  change: Partial<BudgetRow>,
): Promise<BudgetRow | undefined> {
  return await db.updateTable('budgets').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function removeBudget(db: Db, id: string): Promise<void> {
  await db.deleteFrom('budgets').where('id', '=', id).execute()
}
