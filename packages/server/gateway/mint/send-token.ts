import { type ClientTokenClaims, signClientToken, TOKEN_AUDIENCE } from '../../core/access/client-token.ts'
import { Fault } from '../../core/fault.ts'
import type { Scope } from '../../core/tenancy/tenancy.ts'
import { sendJson } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { MintDeps } from './mint-deps.ts'

export interface TokenGrant {
  readonly endUserId: string
  /** The plan of the end user's record; null: it has none. */
  readonly recordPlan: string | null
  /** The plan that the backend or the identity provider named; null: none. */
  readonly namedPlan: string | null
  readonly method: ClientTokenClaims['amr']
  readonly scopes: readonly Scope[]
  readonly lifetimeSeconds: number
}

export interface SendTokenDeps extends Pick<MintDeps, 'getSigner'> {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly newId: () => string
  readonly gatewayUrl: () => string
}

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store']

/** Signs a client token and sends it with 201. It never outlives the key that makes it. */
export async function sendToken(
  ctx: IdentifiedContext,
  grant: TokenGrant,
  deps: SendTokenDeps,
): Promise<void> {
  const signer = await deps.getSigner()
  const { environment, caller, credentialExpiresAt } = ctx
  const iat = Math.floor(deps.now() / 1000)
  const keyEnd =
    credentialExpiresAt === null ? Number.POSITIVE_INFINITY : Math.floor(credentialExpiresAt / 1000)
  const exp = Math.min(iat + grant.lifetimeSeconds, keyEnd)
  if (exp <= iat) throw new Fault('key_expired', 'This key expires before a token could be used.')
  const claims: ClientTokenClaims = {
    iss: deps.gatewayUrl(),
    aud: TOKEN_AUDIENCE,
    sub: grant.endUserId,
    org: environment.orgId,
    prj: environment.projectId,
    env: environment.id,
    scope: grant.scopes.join(' '),
    ...toPlanClaims(grant),
    amr: grant.method,
    pk: caller.keyId,
    ver: 1,
    iat,
    nbf: iat,
    exp,
    jti: deps.newId(),
  }
  const answer = {
    token: signClientToken(claims, signer),
    expires_at: new Date(exp * 1000).toISOString(),
    end_user_id: grant.endUserId,
  }
  sendJson(ctx, 201, answer, NO_STORE)
}

/**
 * The record's plan is looked up for each request, so that it ends with the record. What the token adds is the named plan, which counts
 * where the record has none.
 */
function toPlanClaims({ recordPlan, namedPlan }: TokenGrant): Pick<ClientTokenClaims, 'plan' | 'named_plan'> {
  if (recordPlan === null || recordPlan === namedPlan) return { plan: namedPlan }
  return { plan: recordPlan, named_plan: namedPlan }
}
