import type { Insertable, Selectable } from 'kysely'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { ProviderCredentialRow } from './schema.ts'

export type StoredCredential = Selectable<ProviderCredentialRow>
export type NewCredential = Insertable<ProviderCredentialRow>

export async function insertProviderCredential(db: Db, row: NewCredential): Promise<StoredCredential> {
  return await db.insertInto('provider_credentials').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findProviderCredential(db: Db, id: string): Promise<StoredCredential | undefined> {
  return await db
    .selectFrom('provider_credentials')
    .innerJoin('projects', 'projects.id', 'provider_credentials.project_id')
    .innerJoin('organizations', 'organizations.id', 'provider_credentials.org_id')
    .selectAll('provider_credentials')
    .where('provider_credentials.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Of a whole project or of one environment, newest first. */
export async function listProviderCredentials(
  db: Db,
  below: { readonly column: 'project_id' | 'environment_id'; readonly id: string },
  page: Page,
): Promise<StoredCredential[]> {
  return await db
    .selectFrom('provider_credentials')
    .selectAll()
    .where(below.column, '=', below.id)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

export async function removeProviderCredential(db: Db, id: string): Promise<void> {
  await db.deleteFrom('provider_credentials').where('id', '=', id).execute()
}

/** Notes that the provider refused the key. Announces nothing where it was noted before. */
export async function markCredentialRejected(db: Db, id: string): Promise<void> {
  await db
    .updateTable('provider_credentials')
    .set({ validation_error: REJECTED })
    .where('id', '=', id)
    .where('validation_error', 'is distinct from', REJECTED)
    .execute()
}

const REJECTED = 'The provider refused this credential.'
