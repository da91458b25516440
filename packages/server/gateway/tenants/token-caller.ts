import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import {
  type Caller,
  type EndUser,
  type Lifetime,
  type Rights,
  SCOPES,
  type TokenMinter,
} from '../../core/tenancy/tenancy.ts'

/**
 * Returns the caller of a client token. Its scopes are those of the token that its minter still has; all other rights
 * are its minter's.
 */
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
    originalKeyId: minter?.originalKeyId ?? claims.pk,
    ...rights,
    scopes: SCOPES.filter(scope => named.includes(scope) && scopes.includes(scope)),
    endUser: { ...endUser, plan: endUser.plan ?? toNamedPlan(claims) },
  }
}

/** Returns the plan that the backend or the identity provider named, which counts where the end user's record has none. */
function toNamedPlan({ plan, named_plan: named }: ClientTokenClaims): string | null {
  return named === undefined ? plan : named
}

/** Returns the lifetime of a client token. It ends with its minter, at its `exp` at the latest. */
export function toTokenLifetime(claims: ClientTokenClaims, minter: TokenMinter | undefined): Lifetime {
  const ownEnd = claims.exp * 1000
  if (minter === undefined) return { expiresAt: ownEnd, revokedAt: 0 }
  return { expiresAt: Math.min(ownEnd, minter.expiresAt ?? ownEnd), revokedAt: minter.revokedAt }
}

const NOTHING: Rights = { scopes: [], allowedModels: [], allowedEndpoints: [], maxRequestCostNanoUsd: 0 }
