import type { Insertable, Selectable } from 'kysely'
import type { FederatedAuthTable } from './policy-tables.ts'
import type { Db } from './pool.ts'

export type FederatedAuthRow = Selectable<FederatedAuthTable>

export async function findFederatedAuth(db: Db, projectId: string): Promise<FederatedAuthRow | undefined> {
  return await db
    .selectFrom('federated_auth')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** Inserts the project's row, or replaces all of it except `created_at`. Returns the stored row. */
export async function upsertFederatedAuth(
  db: Db,
  row: Insertable<FederatedAuthTable>,
): Promise<FederatedAuthRow> {
  const { project_id: _, created_at: __, ...replaced } = row
  return await db
    .insertInto('federated_auth')
    .values(row)
    .onConflict(conflict => conflict.column('project_id').doUpdateSet(replaced))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the removed row; undefined if the project had none. */
export async function removeFederatedAuth(db: Db, projectId: string): Promise<FederatedAuthRow | undefined> {
  return await db
    .deleteFrom('federated_auth')
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirst()
}
