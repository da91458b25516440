import { hasLiveOwner } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { BudgetRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertBudget(db: Db, row: BudgetRow): Promise<BudgetRow> {
  return await db.insertInto('budgets').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The budget; undefined if it does not exist, or its project or organization is deleted. */
export async function findBudget(db: Db, id: string): Promise<BudgetRow | undefined> {
  return await db
    .selectFrom('budgets')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveOwner('budgets'))
    .executeTakeFirst()
}

/** Budgets that belong to the organization itself, not to a project of it. */
export async function listOrganizationBudgets(db: Db, orgId: string, page: Page): Promise<BudgetRow[]> {
  const query = db
    .selectFrom('budgets')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', 'is', null)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

export async function listProjectBudgets(db: Db, projectId: string, page: Page): Promise<BudgetRow[]> {
  const query = db.selectFrom('budgets').selectAll().where('project_id', '=', projectId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
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
