import type { Db } from './pool.ts'
import type { UserRow } from './schema.ts'

export async function insertUser(db: Db, row: UserRow): Promise<void> {
  await db.insertInto('users').values(row).execute()
}

/** First-run set-up is open only while this is false. */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}
