import type { Db } from './pool.ts'
import type { UserRow } from './schema.ts'

export async function insertUser(db: Db, row: UserRow): Promise<void> {
  await db.insertInto('users').values(row).execute()
}

/** First-run set-up is open only while this is false. */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** `email` in lower case, as every address is stored. */
export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return await db
    .selectFrom('users')
    .selectAll()
    .where(eb => eb.fn('lower', ['email']), '=', email)
    .executeTakeFirst()
}

export async function getUser(db: Db, id: string): Promise<UserRow> {
  return await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Until the transaction's end nobody else signs in as this user or changes its password. */
export async function lockUser(tx: Db, id: string): Promise<UserRow> {
  return await tx
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** null: the account has no password, and so no sign-in by one. */
export async function updatePassword(db: Db, id: string, hash: string | null, now: Date): Promise<void> {
  await db.updateTable('users').set({ password_hash: hash, updated_at: now }).where('id', '=', id).execute()
}

export async function markEmailProven(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('users').set({ email_proven: true, updated_at: now }).where('id', '=', id).execute()
}
