import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Pool } from 'pg'
import type { SecretBox } from '../../core/access/secret-box.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import type {
  Credential,
  Endpoint,
  Environment,
  EnvironmentName,
  Key,
  KeyKind,
  Scope,
} from '../../core/tenancy/tenancy.ts'
import { withBoundedModels } from '../discovered-models.ts'
import { openOptions } from '../secrets/secret-options.ts'
import { AUTH_PARTS, type AuthParts, toDeviceAuth, toFederatedConfig } from './auth-snapshots.ts'
import { jsonLines, readLines } from './json-lines.ts'
import { type AliasPart, type CustomModelPart, toAlias, toCustomModel } from './model-snapshots.ts'
import { POLICY_PARTS, type PolicyParts, toPolicies } from './policy-snapshots.ts'

// What the gateway loads of a tenant, each by one statement. The statements are named, so that PostgreSQL parses and
// plans them once a connection: that saves three quarters of their cost.

/** The columns of KEY_COLUMNS. */
export interface KeySnapshotRow {
  id: string
  original_id: string
  kind: KeyKind
  environment_id: string
  scopes: Scope[]
  allowed_models: string[] | null
  allowed_endpoints: Endpoint[] | null
  max_request_cost_nano_usd: number | null
  expires_at: Date | null
  revoked_at: Date | null
}

/** What toKey reads, for the select list of a statement over `keys`. */
export const KEY_COLUMNS = `id, original_id, kind, environment_id, scopes, allowed_models, allowed_endpoints,
  max_request_cost_nano_usd, expires_at, revoked_at`

export function toKey(row: KeySnapshotRow): Key {
  return {
    id: row.id,
    originalId: row.original_id,
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

/** The key with this SHA-256, also a revoked or expired one. */
export async function findKeyByHash(pool: Pool, hash: Buffer): Promise<Key | undefined> {
  const { rows } = await pool.query<KeySnapshotRow>({
    name: 'find_key',
    text: `select ${KEY_COLUMNS} from keys where hash = $1`,
    values: [hash],
  })
  return rows[0] === undefined ? undefined : toKey(rows[0])
}

interface CredentialPart {
  id: string
  provider: string
  /** Base64. */
  secret_cipher: string
  base_url: string | null
  options: JsonObject
  /** Base64. */
  options_cipher: string | null
  weight: number
  /** Unix milliseconds. */
  created_at: number
  /** Unix milliseconds. */
  updated_at: number
  discovered_models: string[]
}

interface EnvironmentSnapshotRow extends PolicyParts, AuthParts {
  id: string
  org_id: string
  project_id: string
  name: EnvironmentName
  log_capture: 'full' | 'metadata'
  allowed_models: string[] | null
  unsupported_params: 'refuse' | 'drop'
  on_client_gone: 'cancel' | 'drain'
  allow_secret_key_in_browser: boolean
  allow_client_passthrough: boolean
  allowed_origins: string[]
  deleted: boolean
  /** Lines of CredentialPart. */
  credentials: string | null
  /** Lines of AliasPart. */
  aliases: string | null
  /** Lines of CustomModelPart. */
  custom_models: string | null
}

const CREDENTIAL = `jsonb_build_object('id', c.id, 'provider', c.provider,
    'secret_cipher', encode(c.secret_cipher, 'base64'), 'base_url', c.base_url, 'options', c.options,
    'options_cipher', encode(c.options_cipher, 'base64'), 'weight', c.weight, 'created_at', floor(extract(epoch from c.created_at) * 1000),
    'updated_at', floor(extract(epoch from c.updated_at) * 1000), 'discovered_models', c.bounded_models)`
const ALIAS = `jsonb_build_object('alias', a.alias, 'strategy', a.strategy, 'targets', a.targets)`
const CUSTOM_MODEL = `jsonb_build_object('model', m.model, 'capabilities', m.capabilities,
    'context_window', m.context_window, 'max_output_tokens', m.max_output_tokens, 'pricing', m.pricing)`

/**
 * The environment with everything that requests read: credentials with their secrets, aliases, custom models, policies.
 * `deleted` is true if its project or organization is. Throws SecretBoxError if a secret cannot be decrypted.
 */
export async function findEnvironmentSnapshot(
  pool: Pool,
  secretBox: SecretBox,
  id: string,
): Promise<Environment | undefined> {
  // One statement reads one database snapshot: the parts of the result always belong together.
  const { rows } = await pool.query<EnvironmentSnapshotRow>({
    name: 'find_environment',
    text: `select e.id, e.org_id, e.project_id, e.name, e.log_capture, e.allowed_models, e.unsupported_params,
        e.on_client_gone, e.allow_secret_key_in_browser, e.allow_client_passthrough, p.allowed_origins,
        p.deleted_at is not null or o.deleted_at is not null as deleted,
        (select ${jsonLines(CREDENTIAL, 'c.created_at, c.id')} from ${withBoundedModels('e.id')} c)
          as credentials,
        (select ${jsonLines(ALIAS)} from model_aliases a where a.environment_id = e.id) as aliases,
        (select ${jsonLines(CUSTOM_MODEL)} from custom_models m where m.environment_id = e.id) as custom_models,
        ${AUTH_PARTS}, ${POLICY_PARTS}
      from environments e
      join projects p on p.id = e.project_id
      join organizations o on o.id = e.org_id
      where e.id = $1`,
    values: [id],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  const ticks = new ShortTicks()
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
    allowClientPassthrough: row.allow_client_passthrough,
    allowedOrigins: row.allowed_origins,
    credentials: await readLines(row.credentials, ticks, (part: CredentialPart) =>
      toCredential(part, secretBox),
    ),
    aliases: new Map(
      await readLines(row.aliases, ticks, (part: AliasPart) => [part.alias, toAlias(part)] as const),
    ),
    customModels: new Map(
      await readLines(
        row.custom_models,
        ticks,
        (part: CustomModelPart) => [part.model, toCustomModel(part)] as const,
      ),
    ),
    federatedAuth: row.federated_auth === null ? null : toFederatedConfig(row.federated_auth),
    deviceAuth: row.device_auth === null ? null : toDeviceAuth(row.device_auth),
    policies: await toPolicies(row, ticks),
    deleted: row.deleted,
  }
}

function toCredential(part: CredentialPart, secretBox: SecretBox): Credential {
  const sealed = Buffer.from(part.secret_cipher, 'base64')
  const optionsCipher = part.options_cipher === null ? null : Buffer.from(part.options_cipher, 'base64')
  return {
    id: part.id,
    provider: part.provider,
    apiKey: secretBox.open(sealed, `provider_credentials:${part.id}`),
    baseUrl: part.base_url,
    options: openOptions(secretBox, { ...part, options_cipher: optionsCipher }),
    weight: part.weight,
    createdAt: part.created_at,
    updatedAt: part.updated_at,
    discovered: new Set(part.discovered_models),
  }
}
