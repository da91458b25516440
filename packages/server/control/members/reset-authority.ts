import type { Db } from '../../storage/pool.ts'
import { hasIdentity } from '../../storage/users/identities.ts'
import { listMemberships, MAX_MEMBERSHIPS } from '../../storage/users/members.ts'

/**
 * True if this owner may reset the password of the account. A password gives access to every organization of the account,
 * so the owner must own all of them: otherwise an owner could invite the account into another organization and then take
 * it over. False for an account that signs in by OIDC, since a password would bypass the issuer.
 */
export async function mayResetPassword(wholeDb: Db, ownerId: string, userId: string): Promise<boolean> {
  if (await hasIdentity(wholeDb, userId)) return false
  const theirs = await listMemberships(wholeDb, userId)
  const owners = await listMemberships(wholeDb, ownerId)
  const owned = new Set(owners.filter(({ role }) => role === 'owner').map(({ org_id }) => org_id))
  // Of more, some are not listed.
  if (theirs.length === 0 || theirs.length >= MAX_MEMBERSHIPS) return false
  return theirs.every(({ org_id }) => owned.has(org_id))
}
