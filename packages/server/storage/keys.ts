import { sql } from 'kysely'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { KeyRow } from './schema.ts'

export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db.insertInto('keys').values(row).execute()
}

/** undefined where there is none, or its project or organization was deleted. A revoked key is found. */
export async function findKey(db: Db, id: string): Promise<KeyRow | undefined> {
  return await db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.id', 'keys.project_id')
    .innerJoin('organizations', 'organizations.id', 'keys.org_id')
    .selectAll('keys')
    .where('keys.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listKeys(db: Db, environmentId: string, page: Page): Promise<KeyRow[]> {
  return await db
    .selectFrom('keys')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The key as it then stands. A second revocation changes nothing: the first one's time is kept. */
export async function revokeKey(db: Db, id: string, now: Date): Promise<KeyRow> {
  await db
    .updateTable('keys')
    .set({ revoked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** What may change of a key: an absent field stays as it is. */
export type KeyChange = Partial<
  Pick<
    KeyRow,
    | 'name'
    | 'scopes'
    | 'allowed_models'
    | 'allowed_endpoints'
    | 'max_request_cost_nano_usd'
    | 'expires_at'
    | 'rolled_to'
  >
>

export async function updateKey(db: Db, id: string, change: KeyChange, now: Date): Promise<KeyRow> {
  return await db
    .updateTable('keys')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The key as it stands, held until the transaction's end: what is decided by it stays true. */
export async function lockKey(tx: Db, id: string): Promise<KeyRow> {
  return await tx.selectFrom('keys').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

/** Notes when keys were last used, by id, in Unix milliseconds: one statement, of which nothing is announced. */
export async function touchKeys(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  const times = [...uses.values()].map(at => new Date(at))
  await sql`update keys set last_used_at = used.at
    from unnest(${[...uses.keys()]}::uuid[], ${times}::timestamptz[]) as used (id, at)
    where keys.id = used.id and (keys.last_used_at is null or keys.last_used_at < used.at)`.execute(db)
}
