import type { Pool } from 'pg'
import type { ClientTokenClaims } from '../core/client-token.ts'
import { isUuid } from '../core/ids.ts'
import { type Endpoint, type EndUser, SCOPES, type Scope, type TokenMinter } from '../core/tenancy.ts'

/** What the gateway loads of a client token, besides its environment; see snapshots.ts. */

interface MintingKeyRow {
  scopes: Scope[]
  allowed_models: string[] | null
  allowed_endpoints: Endpoint[] | null
  max_request_cost_nano_usd: number | null
  expires_at: Date | null
  revoked_at: Date | null
}

/** Who stands behind the token, as it stands now; undefined: nobody any more. */
export async function findMinter(pool: Pool, claims: ClientTokenClaims): Promise<TokenMinter | undefined> {
  return claims.pk === null ? await findMember(pool, claims) : await findMintingKey(pool, claims.pk, claims)
}

async function findMintingKey(
  pool: Pool,
  id: string,
  { env }: ClientTokenClaims,
): Promise<TokenMinter | undefined> {
  const { rows } = await pool.query<MintingKeyRow>({
    name: 'find_minting_key',
    text: `select scopes, allowed_models, allowed_endpoints, max_request_cost_nano_usd, expires_at, revoked_at
      from keys where id = $1 and environment_id = $2`,
    values: [id, env],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    rights: {
      scopes: row.scopes,
      allowedModels: row.allowed_models,
      allowedEndpoints: row.allowed_endpoints,
      maxRequestCostNanoUsd: row.max_request_cost_nano_usd,
    },
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }
}

const MEMBER = 'member:'
/** Everything that the environment itself allows. */
const UNRESTRICTED = {
  scopes: SCOPES,
  allowedModels: null,
  allowedEndpoints: null,
  maxRequestCostNanoUsd: null,
}

/** A member, or a management key, that may still make tokens for itself: contract.md §4, `playground-token`. */
async function findMember(pool: Pool, { sub, org }: ClientTokenClaims): Promise<TokenMinter | undefined> {
  const id = sub.slice(MEMBER.length)
  if (!sub.startsWith(MEMBER) || !isUuid(id)) return undefined
  const { rows } = await pool.query<{ expires_at: Date | null; revoked_at: Date | null }>({
    name: 'find_minting_member',
    text: `select null::timestamptz as expires_at, null::timestamptz as revoked_at from members
        where id = $1::uuid and org_id = $2 and accepted_at is not null and role in ('developer', 'admin', 'owner')
      union all
      select expires_at, revoked_at from management_keys
        where id = $1::uuid and org_id = $2 and role in ('developer', 'admin')`,
    values: [id, org],
  })
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    rights: UNRESTRICTED,
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }
}

/** What is set for an end user; nothing for one that has no record. */
export async function findEndUser(pool: Pool, environmentId: string, id: string): Promise<EndUser> {
  const { rows } = await pool.query<{ plan: string | null; blocked: boolean }>({
    name: 'find_end_user_standing',
    text: `select p.name as plan, u.blocked_at is not null as blocked
      from end_users u left join plans p on p.id = u.plan_id
      where u.environment_id = $1 and u.external_id = $2`,
    values: [environmentId, id],
  })
  return { id, plan: rows[0]?.plan ?? null, isBlocked: rows[0]?.blocked ?? false }
}
