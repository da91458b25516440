import type { Insertable, Selectable, Updateable } from 'kysely'
import { cutToRoom } from '../discovered-models.ts'
import { hasLiveProject } from '../live-owner.ts'
import type { Page } from '../page.ts'
import type { Db } from '../pool.ts'
import type { ProviderCredentialTable } from '../schema.ts'
import { defineTable } from '../table.ts'

export type ProviderCredentialRow = Selectable<ProviderCredentialTable>
export type NewProviderCredentialRow = Insertable<ProviderCredentialTable>

const credentials = defineTable('provider_credentials', hasLiveProject)

export const { find: findProviderCredential, lock: lockProviderCredential } = credentials
export const { updateExisting: updateProviderCredential, remove: removeProviderCredential } = credentials

/** Stores a credential, with those of its models that the environment has room for. */
export async function insertProviderCredential(
  db: Db,
  row: NewProviderCredentialRow,
): Promise<ProviderCredentialRow> {
  const { environment_id, id, discovered_models = [] } = row
  return await credentials.insert(db, {
    ...row,
    discovered_models: await cutToRoom(db, environment_id, id, discovered_models),
  })
}

/** Credentials of a whole project or of one environment. */
export function listProviderCredentials(
  db: Db,
  below: { readonly column: 'project_id' | 'environment_id'; readonly id: string },
  page: Page,
): Promise<ProviderCredentialRow[]> {
  return credentials.listBy(below.column)(db, below.id, page)
}

/** The providers that an environment has credentials of. */
export async function listCredentialProviders(db: Db, environmentId: string): Promise<string[]> {
  const query = db.selectFrom('provider_credentials').select('provider').distinct()
  const rows = await query.where('environment_id', '=', environmentId).execute()
  return rows.map(({ provider }) => provider)
}

/** Fields of a credential that can change. An absent field keeps its value. */
export type CredentialChange = Pick<
  Updateable<ProviderCredentialTable>,
  | 'name'
  | 'secret_cipher'
  | 'key_fingerprint'
  | 'base_url'
  | 'options'
  | 'options_cipher'
  | 'weight'
  | 'last_validated_at'
  | 'validation_error'
  | 'discovered_models'
  | 'refresh_at'
  | 'refresh_failures'
>
