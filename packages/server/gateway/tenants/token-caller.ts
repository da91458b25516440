import type { ClientTokenClaims } from '../../core/client-token.ts'
import {
  type Caller,
  type EndUser,
  type Life,
  type Rights,
  SCOPES,
  type TokenMinter,
} from '../../core/tenancy.ts'

/** A token has the scopes that were written into it, as far as its minter still has them; the rest is its minter's. */
export function toTokenCaller(
  claims: ClientTokenClaims,
  minter: TokenMinter | undefined,
  endUser: EndUser,
): Caller {
  const named = claims.scope.split(' ')
  const { scopes, ...rights } = minter?.rights ?? NOTHING
  return {
    kind: 'client_token',
    keyId: claims.pk,
    ...rights,
    scopes: SCOPES.filter(scope => named.includes(scope) && scopes.includes(scope)),
    // What the developer set now wins over what was true when the token was made.
    endUser: { ...endUser, plan: endUser.plan ?? claims.plan },
  }
}

/** It ends with its minter, and at the latest when it says. */
export function toTokenLife(claims: ClientTokenClaims, minter: TokenMinter | undefined): Life {
  const ownEnd = claims.exp * 1000
  if (minter === undefined) return { expiresAt: ownEnd, revokedAt: 0 }
  return { expiresAt: Math.min(ownEnd, minter.expiresAt ?? ownEnd), revokedAt: minter.revokedAt }
}

const NOTHING: Rights = { scopes: [], allowedModels: [], allowedEndpoints: [], maxRequestCostNanoUsd: 0 }
