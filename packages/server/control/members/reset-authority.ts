import { hasIdentity } from '../../storage/identities.ts'
import { listMemberships } from '../../storage/members.ts'
import type { Db } from '../../storage/pool.ts'

/**
 * May this owner give the account a new password? A password opens every organization of the account, so only who owns
 * all of them: an organization of one's own and an invitation must not be a way into somebody else's. Nor for who signs
 * in by an issuer, whose account a password would open behind its back.
 */
export async function mayResetPassword(wholeDb: Db, ownerId: string, userId: string): Promise<boolean> {
  if (await hasIdentity(wholeDb, userId)) return false
  const theirs = await listMemberships(wholeDb, userId)
  const owners = await listMemberships(wholeDb, ownerId)
  const owned = new Set(owners.filter(({ role }) => role === 'owner').map(({ org_id }) => org_id))
  return theirs.length > 0 && theirs.every(({ org_id }) => owned.has(org_id))
}
