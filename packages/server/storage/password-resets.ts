import type { Db } from './pool.ts'
import type { PasswordResetRow } from './schema.ts'

/** In place of the link that the user may have had before. */
export async function putPasswordReset(db: Db, row: PasswordResetRow): Promise<void> {
  const { user_id: _, ...rest } = row
  await db
    .insertInto('password_resets')
    .values(row)
    .onConflict(conflict => conflict.column('user_id').doUpdateSet(rest))
    .execute()
}

export async function findPasswordReset(db: Db, hash: Buffer): Promise<PasswordResetRow | undefined> {
  return await db.selectFrom('password_resets').selectAll().where('hash', '=', hash).executeTakeFirst()
}

/** False where it was gone: of several uses at once one finds it. */
export async function removePasswordReset(db: Db, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('password_resets')
    .where('hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function removePasswordResetsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('password_resets').where('user_id', '=', userId).execute()
}
