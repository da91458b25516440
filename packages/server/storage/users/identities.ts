import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import type { IdentityRow, UserRow } from '../schema.ts'

export async function insertIdentity(db: Db, row: IdentityRow): Promise<void> {
  await db.insertInto('identities').values(row).execute()
}

/** The user who signs in as this subject of the OIDC issuer. */
export async function findUserByIdentity(
  db: Db,
  issuer: string,
  subject: string,
): Promise<UserRow | undefined> {
  return await db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.user_id')
    .selectAll('users')
    .where('identities.issuer', '=', issuer)
    .where('identities.subject', '=', subject)
    .executeTakeFirst()
}

/** True if the user can sign in by an OIDC issuer. */
export async function hasIdentity(db: Db, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('identities')
    .select('user_id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Locks the address until the transaction ends: what creates, merges or looks for accounts of it runs one after the other.
 * Take it before the locks of users and organizations.
 */
export async function lockEmail(tx: Db, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`rideau:email:${email}`}, 0))`.execute(tx)
}
