import type { Db } from './pool.ts'
import type { UserRow } from './schema.ts'

export async function insertUser(db: Db, row: UserRow): Promise<void> {
  await db.insertInto('users').values(row).execute()
}

/** True if there is any user. The first-run set-up is open only while there is none. */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** The user with this address, which must be in lower case. */
export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return await db
    .selectFrom('users')
    .selectAll()
    .where(eb => eb.fn('lower', ['email']), '=', email)
    .executeTakeFirst()
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

export async function markEmailProven(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('users').set({ email_proven: true, updated_at: now }).where('id', '=', id).execute()
}
