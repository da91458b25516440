import { refreshDelayMs } from '../../core/models/refresh-schedule.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import { cutToRoom } from '../discovered-models.ts'
import { type EventDeps, insertSystemEvent, type SystemEvent } from '../events/system-events.ts'
import type { Db } from '../pool.ts'
import { lockProviderCredential, type ProviderCredentialRow } from './provider-credentials.ts'

/** The `validation_error` of a credential that its provider rejects. */
export const CREDENTIAL_REJECTED = 'The provider refused this credential.'
/** The error of a credential whose requests fail because its account has to pay or wait. A test call does not show that. */
export const CREDENTIAL_EXHAUSTED = "The quota or credit of the provider's account is used up."

/** The result of a test call to the provider. */
export interface CredentialValidation {
  readonly at: Date
  /** The error in the gateway's words. null: the provider accepts the credential. */
  readonly error: string | null
  /** Models that the provider lists. undefined: it gave no list, and the stored models stay. */
  readonly models: readonly string[] | undefined
}

/**
 * Stores the result, with those of the models that the environment has room for, and returns the row; undefined if the credential was removed in the meantime. A result of a
 * credential that was changed since `validated` was read is dropped, and the changed row returned. Creates the event
 * `credential.invalid` if the provider rejects the credential and did not before. For a transaction of the caller's.
 */
export async function updateCredentialValidation(
  tx: Db,
  validated: Pick<ProviderCredentialRow, 'id' | 'updated_at'>,
  { at, error, models: listed }: CredentialValidation,
  deps: EventDeps,
): Promise<ProviderCredentialRow | undefined> {
  const { id, updated_at } = validated
  const before = await lockProviderCredential(tx, id)
  if (before === undefined || before.updated_at.getTime() !== updated_at.getTime()) return before
  const failures = error === null ? 0 : before.refresh_failures + 1
  const models = listed === undefined ? undefined : await cutToRoom(tx, before.environment_id, id, listed)
  // Snapshots hold the models: the same ones in another order are not written, so that no gateway loads them again.
  const isListed = models !== undefined && !hasSameModels(models, before.discovered_models)
  const row = await tx
    .updateTable('provider_credentials')
    .set({
      last_validated_at: at,
      validation_error: error,
      ...(isListed ? { discovered_models: models } : {}),
      refresh_failures: failures,
      // null stays null: this credential's provider has no list.
      ...(before.refresh_at === null
        ? {}
        : { refresh_at: new Date(at.getTime() + refreshDelayMs(failures)) }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (error === CREDENTIAL_REJECTED && before.validation_error !== CREDENTIAL_REJECTED) {
    await insertSystemEvent(tx, toInvalidEvent(row), deps)
  }
  return row
}

function hasSameModels(some: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others)
  return some.length === others.length && some.every(model => known.has(model))
}

/**
 * Stores why the provider refuses the credential's requests, and creates the event `credential.invalid`. Does nothing if that
 * is stored already, however many processes report it, or if the credential was changed since the request used it: it may have
 * another key by now. `updatedAt`: Unix milliseconds.
 */
export async function markCredentialRejected(
  db: Db,
  { id, updatedAt }: Pick<Credential, 'id' | 'updatedAt'>,
  error: typeof CREDENTIAL_REJECTED | typeof CREDENTIAL_EXHAUSTED,
  deps: EventDeps,
): Promise<void> {
  await db.transaction().execute(async tx => {
    const row = await tx
      .updateTable('provider_credentials')
      .set({ validation_error: error })
      .where('id', '=', id)
      .where('updated_at', '=', new Date(updatedAt))
      .where('validation_error', 'is distinct from', error)
      .returningAll()
      .executeTakeFirst()
    if (row !== undefined) await insertSystemEvent(tx, toInvalidEvent(row), deps)
  })
}

function toInvalidEvent(row: ProviderCredentialRow): SystemEvent {
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
