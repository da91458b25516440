import { removeUserPasswordReset } from '../../storage/password-resets.ts'
import type { Db } from '../../storage/pool.ts'
import { removeUserSessions } from '../../storage/sessions.ts'
import { updatePassword } from '../../storage/users.ts'

/**
 * A new password ends what the former one opened; null: none any more. `tx`: whose holder has locked the user, so that
 * no sign-in by the former one slips through.
 */
export async function storePassword(tx: Db, userId: string, hash: string | null, now: Date): Promise<void> {
  await updatePassword(tx, userId, hash, now)
  await removeUserSessions(tx, userId)
  await removeUserPasswordReset(tx, userId)
}
