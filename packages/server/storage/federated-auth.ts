import type { Insertable, Selectable } from 'kysely'
import type { FederatedAuthRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export type StoredFederatedAuth = Selectable<FederatedAuthRow>

export async function findFederatedAuth(db: Db, projectId: string): Promise<StoredFederatedAuth | undefined> {
  return await db
    .selectFrom('federated_auth')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** Makes the project's, or replaces all of it but the time it was made. */
export async function putFederatedAuth(
  db: Db,
  row: Insertable<FederatedAuthRow>,
): Promise<StoredFederatedAuth> {
  const { project_id: _, created_at: __, ...replaced } = row
  return await db
    .insertInto('federated_auth')
    .values(row)
    .onConflict(conflict => conflict.column('project_id').doUpdateSet(replaced))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** What was there; undefined where the project had none. */
export async function removeFederatedAuth(
  db: Db,
  projectId: string,
): Promise<StoredFederatedAuth | undefined> {
  return await db
    .deleteFrom('federated_auth')
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirst()
}
