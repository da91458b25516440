import type { Insertable, Selectable, Updateable } from 'kysely'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { ProviderCredentialRow } from './schema.ts'
import { type EventTools, insertSystemEvent, type SystemEvent } from './system-events.ts'

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

/** The credential as it stands, held until the transaction's end: what is decided by it stays true. */
export async function lockProviderCredential(tx: Db, id: string): Promise<StoredCredential | undefined> {
  return await tx
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** What may change of a credential: an absent field stays as it is. */
export type CredentialChange = Pick<
  Updateable<ProviderCredentialRow>,
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

export async function updateProviderCredential(
  db: Db,
  id: string,
  change: CredentialChange,
  now: Date,
): Promise<StoredCredential> {
  return await db
    .updateTable('provider_credentials')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** How a check of the credential ended. */
export interface CredentialCheck {
  readonly at: Date
  /** Our words; null: the provider took the key. */
  readonly error: string | null
  /** What the provider's own list named; undefined: no list came, what was known stays. */
  readonly models: readonly string[] | undefined
}

/**
 * Stores the outcome of a check, unless the credential was changed or removed while it ran: then it was of something
 * else. Raises `credential.invalid` where the provider had not refused the key before. The row as it then stands;
 * undefined: it is gone.
 */
export async function storeCredentialCheck(
  tx: Db,
  checked: Pick<StoredCredential, 'id' | 'updated_at'>,
  { at, error, models }: CredentialCheck,
  tools: EventTools,
): Promise<StoredCredential | undefined> {
  const { id, updated_at } = checked
  const before = await lockProviderCredential(tx, id)
  if (before === undefined || before.updated_at.getTime() !== updated_at.getTime()) return before
  const row = await tx
    .updateTable('provider_credentials')
    .set({
      last_validated_at: at,
      validation_error: error,
      ...(models === undefined ? {} : { discovered_models: [...models] }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (error === REJECTED && before.validation_error !== REJECTED) {
    await insertSystemEvent(tx, toInvalidEvent(row), tools)
  }
  return row
}

/**
 * Notes that the provider refused the key, and raises `credential.invalid`. Does and announces nothing where it was
 * noted before.
 */
export async function markCredentialRejected(db: Db, id: string, tools: EventTools): Promise<void> {
  await db.transaction().execute(async tx => {
    const row = await tx
      .updateTable('provider_credentials')
      .set({ validation_error: REJECTED })
      .where('id', '=', id)
      .where('validation_error', 'is distinct from', REJECTED)
      .returningAll()
      .executeTakeFirst()
    if (row !== undefined) await insertSystemEvent(tx, toInvalidEvent(row), tools)
  })
}

function toInvalidEvent(row: StoredCredential): SystemEvent {
  return {
    orgId: row.org_id,
    type: 'credential.invalid',
    resource: { kind: 'provider_credentials', id: row.id },
    data: {
      provider_credential_id: row.id,
      org_id: row.org_id,
      project_id: row.project_id,
      environment_id: row.environment_id,
      provider: row.provider,
      name: row.name,
      validation_error: row.validation_error,
    },
  }
}

/** What is told of a key that its provider does not take. */
export const REJECTED = 'The provider refused this credential.'
