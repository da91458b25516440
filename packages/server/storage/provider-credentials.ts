import type { Insertable, Selectable, Updateable } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { ProviderCredentialTable } from './schema.ts'

export type ProviderCredentialRow = Selectable<ProviderCredentialTable>
export type NewProviderCredentialRow = Insertable<ProviderCredentialTable>

export async function insertProviderCredential(
  db: Db,
  row: NewProviderCredentialRow,
): Promise<ProviderCredentialRow> {
  return await db.insertInto('provider_credentials').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The credential; undefined if it does not exist, or its project or organization is deleted. */
export async function findProviderCredential(db: Db, id: string): Promise<ProviderCredentialRow | undefined> {
  return await db
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('provider_credentials'))
    .executeTakeFirst()
}

/** Credentials of a whole project or of one environment. */
export async function listProviderCredentials(
  db: Db,
  below: { readonly column: 'project_id' | 'environment_id'; readonly id: string },
  page: Page,
): Promise<ProviderCredentialRow[]> {
  const query = db.selectFrom('provider_credentials').selectAll().where(below.column, '=', below.id)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

export async function removeProviderCredential(db: Db, id: string): Promise<void> {
  await db.deleteFrom('provider_credentials').where('id', '=', id).execute()
}

/** Returns the credential and locks it until the transaction ends; undefined if it does not exist. */
export async function lockProviderCredential(tx: Db, id: string): Promise<ProviderCredentialRow | undefined> {
  return await tx
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Fields of a credential that can change. An absent field keeps its value. */
export type CredentialChange = Pick<
  Updateable<ProviderCredentialTable>,
  | 'name'
  | 'secret_cipher'
  | 'key_fingerprint'
  | 'base_url'
  | 'options'
  | 'weight'
  | 'last_validated_at'
  | 'validation_error'
  | 'discovered_models'
>

/** Returns the changed row. Throws if there is none. */
export async function updateProviderCredential(
  db: Db,
  id: string,
  change: CredentialChange,
  now: Date,
): Promise<ProviderCredentialRow> {
  return await db
    .updateTable('provider_credentials')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
