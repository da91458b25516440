import { maySignInAs } from '../../core/access/oidc-issuer.ts'
import type { Db } from '../../storage/pool.ts'
import { listIdentityIssuers } from '../../storage/users/identities.ts'
import { listMemberships, MAX_MEMBERSHIPS } from '../../storage/users/members.ts'

/**
 * True if this owner may reset the password of the account. A password gives access to every organization of the account,
 * so the owner must own all of them: otherwise an owner could invite the account into another organization and then take
 * it over. False for an account that signs in by the configured OIDC issuer, since a password would bypass it. While OIDC is off,
 * or has an issuer that does not verify the person's address, there may be no other way in; a sign-in by OIDC ends the
 * password again (findOidcUser). `oidcIssuer`: Services.oidcIssuer.
 */
export async function mayResetPassword(
  wholeDb: Db,
  ownerId: string,
  userId: string,
  oidcIssuer: string | undefined,
): Promise<boolean> {
  if (oidcIssuer !== undefined) {
    const issuers = await listIdentityIssuers(wholeDb, userId)
    if (issuers.some(issuer => maySignInAs(oidcIssuer, issuer))) return false
  }
  const theirs = await listMemberships(wholeDb, userId)
  const owners = await listMemberships(wholeDb, ownerId)
  const owned = new Set(owners.filter(({ role }) => role === 'owner').map(({ org_id }) => org_id))
  // Of more, some are not listed.
  if (theirs.length === 0 || theirs.length >= MAX_MEMBERSHIPS) return false
  return theirs.every(({ org_id }) => owned.has(org_id))
}
