import { type Selectable, sql } from 'kysely'
import type { Pool } from 'pg'
import { hasLiveProject } from '../live-owner.ts'
import { type Page, selectPage, selectPageOldestFirst } from '../page.ts'
import type { EndUserTable } from '../policy-tables.ts'
import type { Db } from '../pool.ts'
import { defineTable } from '../table.ts'

/** An end user with the name of its plan; null: it has no plan of its own. */
export type EndUserWithPlanRow = Selectable<EndUserTable> & { readonly plan: string | null }

const endUsers = defineTable('end_users', hasLiveProject)

export const { insert: insertEndUser, update: updateEndUser, remove: removeEndUser } = endUsers

function selectEndUsers(db: Db) {
  return db
    .selectFrom('end_users')
    .leftJoin('plans', join =>
      join.onRef('plans.id', '=', 'end_users.plan_id').on('plans.deleted_at', 'is', null),
    )
    .selectAll('end_users')
    .select('plans.name as plan')
}

/** The end user; undefined if it does not exist, or its project or organization is deleted. */
export async function findEndUser(db: Db, id: string): Promise<EndUserWithPlanRow | undefined> {
  return await selectEndUsers(db)
    .where('end_users.id', '=', id)
    .where(hasLiveProject('end_users'))
    .executeTakeFirst()
}

/** The id of the end user that callers name `externalId`. */
export async function findEndUserId(
  db: Db,
  environmentId: string,
  externalId: string,
): Promise<string | undefined> {
  const row = await endUsers.findMatch(db, { environment_id: environmentId, external_id: externalId })
  return row?.id
}

/** Which end users of an environment to list. */
export interface EndUserFilter {
  /** What the external id begins with. */
  readonly beginning?: string | undefined
  /** The external id. */
  readonly externalId?: string | undefined
  /** The name of their own plan. */
  readonly plan?: string | undefined
  readonly isBlocked?: boolean | undefined
  /** Default: newest first. */
  readonly order?: EndUserOrder | undefined
}

export const END_USER_ORDERS = ['-created_at', 'created_at', 'external_id'] as const
export type EndUserOrder = (typeof END_USER_ORDERS)[number]

export async function listEndUsers(
  db: Db,
  environmentId: string,
  page: Page,
  { beginning, externalId, plan, isBlocked, order }: EndUserFilter = {},
): Promise<EndUserWithPlanRow[]> {
  let query = selectEndUsers(db).where('end_users.environment_id', '=', environmentId)
  if (beginning !== undefined) {
    // Not LIKE: PostgreSQL has row security checked before it, and so never by an index.
    query = query.where(sql<boolean>`end_users.external_id ^@ ${beginning}`)
  }
  if (externalId !== undefined) query = query.where('end_users.external_id', '=', externalId)
  if (plan !== undefined) {
    // A single plan has its end users in the order of the list.
    query = query.where('end_users.plan_id', '=', eb =>
      eb
        .selectFrom('plans as named')
        .select('named.id')
        .where('named.environment_id', '=', environmentId)
        .where('named.name', '=', plan)
        .where('named.deleted_at', 'is', null),
    )
  }
  if (isBlocked !== undefined) {
    query = query.where('end_users.blocked_at', isBlocked ? 'is not' : 'is', null)
  }
  if (order === 'created_at') {
    return await selectPageOldestFirst(query, page, 'end_users.created_at', 'end_users.id').execute()
  }
  if (order === 'external_id') return await byName(query, page).execute()
  return await selectPage(query, page, 'end_users.created_at', 'end_users.id').execute()
}

/** A name is too long for a cursor, so a page continues after the name of the end user whose id the cursor has. */
function byName(query: ReturnType<typeof selectEndUsers>, { after, limit }: Page) {
  const rest =
    after === undefined
      ? query
      : query.where(eb =>
          eb(
            'end_users.external_id',
            '>',
            eb.selectFrom('end_users as last').select('last.external_id').where('last.id', '=', after.id),
          ),
        )
  return rest.orderBy('end_users.external_id').limit(limit)
}

/** Blocks the end user. Blocking it again keeps the first `blocked_at`. */
export async function blockEndUser(db: Db, id: string, now: Date): Promise<void> {
  await endUsers.setTimeOnce(db, id, 'blocked_at', now)
}

/** Unblocks the end user. Does nothing to one that is not blocked. */
export async function unblockEndUser(db: Db, id: string, now: Date): Promise<void> {
  const set = { blocked_at: null, updated_at: now }
  await db
    .updateTable('end_users')
    .set(set)
    .where('id', '=', id)
    .where('blocked_at', 'is not', null)
    .execute()
}

/** An end user that a request named. */
export interface SeenEndUser {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly environment_id: string
  readonly external_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** Inserts an end user's record unless there is one. Returns the stored one. */
export async function seeEndUser(db: Db, seen: SeenEndUser): Promise<Selectable<EndUserTable>> {
  const { environment_id, external_id } = seen
  const row = { ...seen, plan_id: null, attributes: '{}', blocked_at: null }
  await db
    .insertInto('end_users')
    .values(row)
    .onConflict(conflict => conflict.columns(['environment_id', 'external_id']).doNothing())
    .execute()
  const stored = await endUsers.findMatch(db, { environment_id, external_id })
  if (stored === undefined) throw new Error('an end user was removed while it was seen')
  return stored
}

/** Inserts the records of end users that have none, by one statement. */
export async function insertSeenEndUsers(pool: Pool, seen: readonly SeenEndUser[]): Promise<void> {
  await pool.query({
    name: 'insert_seen_end_users',
    // In one order, so that two processes with the same end users never wait for each other in a circle.
    text: `insert into end_users (id, org_id, project_id, environment_id, external_id, created_at, updated_at)
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[], $6::timestamptz[])
        as seen (id, org_id, project_id, environment_id, external_id, created_at, updated_at)
      order by environment_id, external_id
      on conflict (environment_id, external_id) do nothing`,
    values: [
      seen.map(({ id }) => id),
      seen.map(({ org_id }) => org_id),
      seen.map(({ project_id }) => project_id),
      seen.map(({ environment_id }) => environment_id),
      seen.map(({ external_id }) => external_id),
      seen.map(({ created_at }) => created_at),
    ],
  })
}

/** Stores the attributes of an end user, with a new record if it has none. `attributes` is a JSON object. */
export async function putEndUserAttributes(pool: Pool, seen: SeenEndUser, attributes: string): Promise<void> {
  const { id, org_id, project_id, environment_id, external_id, updated_at } = seen
  await pool.query({
    name: 'put_end_user_attributes',
    text: `insert into end_users
        (id, org_id, project_id, environment_id, external_id, attributes, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $7)
      on conflict (environment_id, external_id) do update set attributes = excluded.attributes, updated_at = $7
      where end_users.attributes is distinct from excluded.attributes`,
    values: [id, org_id, project_id, environment_id, external_id, attributes, updated_at],
  })
}
