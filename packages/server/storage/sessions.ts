import type { Db } from './pool.ts'
import type { SessionRow } from './schema.ts'

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

/** By the SHA-256 of its token; also one that has expired. */
export async function findSessionByHash(db: Db, hash: Buffer): Promise<SessionRow | undefined> {
  return await db.selectFrom('sessions').selectAll().where('hash', '=', hash).executeTakeFirst()
}

export async function touchSession(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('sessions').set({ last_used_at: now }).where('id', '=', id).execute()
}

export async function removeSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

export async function removeSessionByHash(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('sessions').where('hash', '=', hash).execute()
}

export async function removeSessionsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/** What nobody can use any more: past its end, or not used since `idleSince`. */
export async function removeEndedSessions(db: Db, now: Date, idleSince: Date): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where(eb => eb.or([eb('expires_at', '<=', now), eb('last_used_at', '<=', idleSince)]))
    .execute()
}
