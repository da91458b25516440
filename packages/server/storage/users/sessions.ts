import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { removeBatch } from '../remove-in-batches.ts'
import type { SessionRow } from '../schema.ts'

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

/** The session whose token has this SHA-256, also an expired one. */
export async function findSessionByHash(db: Db, hash: Buffer): Promise<SessionRow | undefined> {
  return await db.selectFrom('sessions').selectAll().where('hash', '=', hash).executeTakeFirst()
}

/** The session, also an expired one. */
export async function findSessionById(db: Db, id: string): Promise<SessionRow | undefined> {
  return await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** When the session ends at the latest. Throws if it does not exist. */
export async function getSessionEnd(db: Db, id: string): Promise<Date> {
  const query = db.selectFrom('sessions').select('expires_at').where('id', '=', id)
  return (await query.executeTakeFirstOrThrow()).expires_at
}

export async function updateSessionLastUsed(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('sessions').set({ last_used_at: now }).where('id', '=', id).execute()
}

export async function removeSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

export async function removeSessionByHash(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('sessions').where('hash', '=', hash).execute()
}

/** Signs the user out everywhere. */
export async function removeUserSessions(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/**
 * Removes some of the sessions that expired at or before `now`, or were last used at or before `idleSince`. Leaves those that a concurrent
 * transaction has locked: two that have each removed one before would wait for each other.
 */
export async function removeExpiredSessions(db: Db, now: Date, idleSince: Date): Promise<void> {
  await removeBatch(db, 'sessions', sql`expires_at <= ${now} or last_used_at <= ${idleSince}`)
}
