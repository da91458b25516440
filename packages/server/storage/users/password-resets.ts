import type { Db } from '../pool.ts'
import type { PasswordResetRow } from '../schema.ts'

/** Stores the user's reset link in place of an earlier one. */
export async function upsertPasswordReset(db: Db, row: PasswordResetRow): Promise<void> {
  const { user_id: _, ...rest } = row
  await db
    .insertInto('password_resets')
    .values(row)
    .onConflict(conflict => conflict.column('user_id').doUpdateSet(rest))
    .execute()
}

/** The reset link whose token has this SHA-256, also an expired one. */
export async function findPasswordReset(db: Db, hash: Buffer): Promise<PasswordResetRow | undefined> {
  return await db.selectFrom('password_resets').selectAll().where('hash', '=', hash).executeTakeFirst()
}

/** Removes the link and returns true; false if it was removed before. Of concurrent callers one gets true. */
export async function removePasswordReset(db: Db, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('password_resets')
    .where('hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function removeUserPasswordReset(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('password_resets').where('user_id', '=', userId).execute()
}
