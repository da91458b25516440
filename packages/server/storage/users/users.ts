import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import type { UserRow } from '../schema.ts'

export async function insertUser(db: Db, row: UserRow): Promise<void> {
  await db.insertInto('users').values(row).execute()
}

/** True if there is any user. The first-run set-up is open only while there is none. */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * The users with this address, which must be in lower case: the one who proved it first, then the others from the oldest
 * on.
 */
export async function listUsersByEmail(db: Db, email: string): Promise<UserRow[]> {
  return await selectByEmail(db, email).execute()
}

/** The user with this address, in lower case, and this password hash; the one who proved the address before others. */
export async function findUserByPassword(
  db: Db,
  email: string,
  passwordHash: string,
): Promise<UserRow | undefined> {
  return await selectByEmail(db, email).where('password_hash', '=', passwordHash).limit(1).executeTakeFirst()
}

function selectByEmail(db: Db, email: string) {
  return db
    .selectFrom('users')
    .selectAll()
    .where(eb => eb.fn('lower', ['email']), '=', email)
    .orderBy('email_proven', 'desc')
    .orderBy('created_at')
    .orderBy('id')
}

export interface PasswordSalting {
  /** Makes the salt of an address that has no password yet. */
  readonly saltKey: Buffer
  /** What precedes the hash in the stored passwords of the address (`$scrypt$ln=17,r=8,p=1$<salt>`); null without any. */
  readonly settings: string | null
}

/** How passwords of an address, in lower case, are hashed: alike for all accounts that have the address. */
export async function getPasswordSalting(db: Db, email: string): Promise<PasswordSalting> {
  const { rows } = await sql<PasswordSalting>`
    select password_salt_key as "saltKey", (
      select substring(password_hash from '^(.*)[$][^$]*$') from users
        where lower(email) = ${email} and password_hash is not null
        order by created_at, id limit 1
    ) as settings
    from deployment`.execute(db)
  if (rows[0] === undefined) throw new Error('the table deployment has no row')
  return rows[0]
}

/** Throws if there is no such user. */
export async function getUser(db: Db, id: string): Promise<UserRow> {
  return await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/**
 * Returns the user and locks its row until the transaction ends: sign-ins and password changes of one user run one after
 * the other. Throws if there is no such user.
 */
export async function lockUser(tx: Db, id: string): Promise<UserRow> {
  return await tx
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** Sets the password hash. null: the user cannot sign in by password. */
export async function updatePassword(db: Db, id: string, hash: string | null, now: Date): Promise<void> {
  await db.updateTable('users').set({ password_hash: hash, updated_at: now }).where('id', '=', id).execute()
}

/** Stores whether the account's address is proven. */
export async function updateEmailProven(db: Db, id: string, isProven: boolean, now: Date): Promise<void> {
  await db
    .updateTable('users')
    .set({ email_proven: isProven, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/**
 * Makes `ids`, accounts whose owner proved none of them, part of the account `into`: it gets their memberships and identities,
 * and they lose their passwords, sessions and reset links. A membership stays behind where `into` is a member already.
 */
export async function absorbUsers(tx: Db, ids: readonly string[], into: string, now: Date): Promise<void> {
  if (ids.length === 0) return
  // Arrays, because a statement has at most 65,535 parameters.
  const from = [...ids]
  // First, because it locks the rows: no sign-in by the previous passwords commits afterwards.
  await sql`update users set password_hash = null, updated_at = ${now} where id = any(${from}::uuid[])`.execute(
    tx,
  )
  await sql`delete from sessions where user_id = any(${from}::uuid[])`.execute(tx)
  await sql`delete from password_resets where user_id = any(${from}::uuid[])`.execute(tx)
  await sql`update identities set user_id = ${into} where user_id = any(${from}::uuid[])`.execute(tx)
  await sql`
    update members set user_id = ${into}, updated_at = ${now}
    where user_id = any(${from}::uuid[]) and not exists (
      select from members as other
      where other.org_id = members.org_id and other.id <> members.id and (
        other.user_id = ${into} or other.user_id = any(${from}::uuid[]) and other.id < members.id
      )
    )`.execute(tx)
}
