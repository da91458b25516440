import type { JsonObject } from '@rideau/llm/spec'
import type { Pool } from 'pg'
import type { SecretBox } from '../core/secret-box.ts'
import type {
  Credential,
  Endpoint,
  Environment,
  EnvironmentName,
  Key,
  KeyKind,
  Scope,
} from '../core/tenancy.ts'

/**
 * What the gateway loads of a tenant, one round trip each. The statements are named: prepared once a connection,
 * they cost a quarter.
 */

interface KeySnapshotRow {
  id: string
  kind: KeyKind
  environment_id: string
  scopes: Scope[]
  allowed_models: string[] | null
  allowed_endpoints: Endpoint[] | null
  max_request_cost_nano_usd: number | null
  expires_at: Date | null
  revoked_at: Date | null
}

/** The key with this SHA-256, also one that has ended. */
export async function findKey(pool: Pool, hash: Buffer): Promise<Key | undefined> {
  const { rows } = await pool.query<KeySnapshotRow>({
    name: 'find_key',
    text: `select id, kind, environment_id, scopes, allowed_models, allowed_endpoints, max_request_cost_nano_usd,
        expires_at, revoked_at
      from keys where hash = $1`,
    values: [hash],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    id: row.id,
    kind: row.kind,
    environmentId: row.environment_id,
    scopes: row.scopes,
    allowedModels: row.allowed_models,
    allowedEndpoints: row.allowed_endpoints,
    maxRequestCostNanoUsd: row.max_request_cost_nano_usd,
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }
}

interface CredentialColumns {
  credential_id: string
  provider: string
  secret_cipher: Buffer
  base_url: string | null
  options: JsonObject
  weight: number
  credential_created_at: Date
}

type NoCredential = { [column in keyof CredentialColumns]: null }

type EnvironmentSnapshotRow = {
  id: string
  org_id: string
  project_id: string
  name: EnvironmentName
  log_capture: 'full' | 'metadata'
  allowed_models: string[] | null
  unsupported_params: 'refuse' | 'drop'
  on_client_gone: 'cancel' | 'drain'
  allow_secret_key_in_browser: boolean
  allowed_origins: string[]
  deleted: boolean
} & (CredentialColumns | NoCredential)

/** Throws SecretBoxError where a credential was sealed under another master key. */
export async function findEnvironment(
  pool: Pool,
  secretBox: SecretBox,
  id: string,
): Promise<Environment | undefined> {
  // One statement, one snapshot: no environment of one moment with credentials of another.
  const { rows } = await pool.query<EnvironmentSnapshotRow>({
    name: 'find_environment',
    text: `select e.id, e.org_id, e.project_id, e.name, e.log_capture, e.allowed_models, e.unsupported_params,
        e.on_client_gone, e.allow_secret_key_in_browser, p.allowed_origins,
        p.deleted_at is not null or o.deleted_at is not null as deleted,
        c.id as credential_id, c.provider, c.secret_cipher, c.base_url, c.options, c.weight,
        c.created_at as credential_created_at
      from environments e
      join projects p on p.id = e.project_id
      join organizations o on o.id = e.org_id
      left join provider_credentials c on c.environment_id = e.id
      where e.id = $1
      order by c.created_at, c.id`,
    values: [id],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    id: row.id,
    orgId: row.org_id,
    projectId: row.project_id,
    name: row.name,
    logCapture: row.log_capture,
    allowedModels: row.allowed_models,
    unsupportedParams: row.unsupported_params,
    onClientGone: row.on_client_gone,
    allowSecretKeyInBrowser: row.allow_secret_key_in_browser,
    allowedOrigins: row.allowed_origins,
    credentials: rows.flatMap(each => (each.credential_id === null ? [] : [toCredential(each, secretBox)])),
    deleted: row.deleted,
  }
}

function toCredential(row: CredentialColumns, secretBox: SecretBox): Credential {
  return {
    id: row.credential_id,
    provider: row.provider,
    apiKey: secretBox.open(row.secret_cipher, `provider_credentials:${row.credential_id}`),
    baseUrl: row.base_url,
    options: row.options,
    weight: row.weight,
    createdAt: row.credential_created_at.getTime(),
  }
}
