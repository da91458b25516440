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

/** The OIDC issuers by which the user has signed in, also those that are not configured any more. */
export async function listIdentityIssuers(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('identities')
    .select('issuer')
    .distinct()
    .where('user_id', '=', userId)
    .execute()
  return rows.map(({ issuer }) => issuer)
}

/**
 * Locks the address until the transaction ends: what creates, merges or looks for accounts of it runs one after the other.
 * Take it before the locks of users and organizations.
 */
export async function lockEmail(tx: Db, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`rideau:email:${email}`}, 0))`.execute(tx)
}
