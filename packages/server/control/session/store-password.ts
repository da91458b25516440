import type { Db } from '../../storage/pool.ts'
import { removeUserPasswordReset } from '../../storage/users/password-resets.ts'
import { removeUserSessions } from '../../storage/users/sessions.ts'
import { updatePassword } from '../../storage/users/users.ts'

/**
 * Stores a new password hash (null: no password), and ends the sessions and reset links of the previous one. The caller
 * of `tx` must have locked the user, so that no concurrent sign-in with the previous password succeeds.
 */
export async function storePassword(tx: Db, userId: string, hash: string | null, now: Date): Promise<void> {
  await updatePassword(tx, userId, hash, now)
  await removeUserSessions(tx, userId)
  await removeUserPasswordReset(tx, userId)
}
