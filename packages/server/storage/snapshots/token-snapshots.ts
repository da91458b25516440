import type { Pool } from 'pg'
import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import { isUuid } from '../../core/ids.ts'
import { type EndUser, SCOPES, type TokenMinter } from '../../core/tenancy/tenancy.ts'
import { KEY_COLUMNS, type KeySnapshotRow, toKey } from './snapshots.ts'

// What the gateway loads for a client token besides its environment (snapshots.ts).

/**
 * Whoever created the token, with the rights it has now: a key, or for a token of the playground a member or management
 * key. undefined if it does not exist any more, or may not create tokens any more.
 */
export async function findTokenMinter(
  pool: Pool,
  claims: ClientTokenClaims,
): Promise<TokenMinter | undefined> {
  return claims.pk === null
    ? await findPlaygroundMinter(pool, claims)
    : await findKeyMinter(pool, claims.pk, claims)
}

async function findKeyMinter(
  pool: Pool,
  id: string,
  { env }: ClientTokenClaims,
): Promise<TokenMinter | undefined> {
  const { rows } = await pool.query<KeySnapshotRow>({
    name: 'find_minting_key',
    text: `select ${KEY_COLUMNS} from keys where id = $1 and environment_id = $2`,
    values: [id, env],
  })
  if (rows[0] === undefined) return undefined
  const { originalId, scopes, allowedModels, allowedEndpoints, maxRequestCostNanoUsd, ...life } = toKey(
    rows[0],
  )
  const rights = { scopes, allowedModels, allowedEndpoints, maxRequestCostNanoUsd }
  return { originalKeyId: originalId, rights, expiresAt: life.expiresAt, revokedAt: life.revokedAt }
}

/** The subject of a playground token is `member:` and the id of a member or management key. */
const MEMBER_PREFIX = 'member:'

/** Everything that the environment allows. */
const UNRESTRICTED = {
  scopes: SCOPES,
  allowedModels: null,
  allowedEndpoints: null,
  maxRequestCostNanoUsd: null,
}

async function findPlaygroundMinter(
  pool: Pool,
  { sub, org }: ClientTokenClaims,
): Promise<TokenMinter | undefined> {
  const id = sub.slice(MEMBER_PREFIX.length)
  if (!sub.startsWith(MEMBER_PREFIX) || !isUuid(id)) return undefined
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
    originalKeyId: null,
    rights: UNRESTRICTED,
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }
}

/** An end user, by the name that callers use. */
export interface EndUserName {
  readonly environmentId: string
  readonly id: string
}

interface EndUserSnapshotRow {
  /** Of the end user among those that were asked for, from 1 on. */
  place: number
  plan: string | null
  blocked: boolean
}

/**
 * The plan and block of each end user, in their order; no plan and not blocked where one has no row. One statement for all of them: a
 * key may name a new end user with each request.
 */
export async function listEndUserSnapshots(pool: Pool, names: readonly EndUserName[]): Promise<EndUser[]> {
  const { rows } = await pool.query<EndUserSnapshotRow>({
    name: 'list_end_users',
    text: `select a.place, p.name as plan, u.blocked_at is not null as blocked
      from unnest($1::uuid[], $2::text[]) with ordinality as a (environment_id, external_id, place)
      join end_users u on u.environment_id = a.environment_id and u.external_id = a.external_id
      left join plans p on p.id = u.plan_id and p.deleted_at is null`,
    values: [names.map(({ environmentId }) => environmentId), names.map(({ id }) => id)],
  })
  const byPlace = new Map(rows.map(row => [row.place, row]))
  return names.map(({ id }, index) => toEndUser(id, byPlace.get(index + 1)))
}

function toEndUser(id: string, row: EndUserSnapshotRow | undefined): EndUser {
  return { id, plan: row?.plan ?? null, isBlocked: row?.blocked ?? false }
}
