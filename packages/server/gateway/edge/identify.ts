import { hash } from 'node:crypto'
import { checkClientOrigin, checkEndpoint, checkLifetime, checkOrigin } from '../../core/access/authorize.ts'
import { readTokenKid, verifyClientToken } from '../../core/access/client-token.ts'
import { parseKeyText } from '../../core/access/key-format.ts'
import { Fault } from '../../core/fault.ts'
import { type Refusal, toRefusalFault } from '../../core/refusal.ts'
import { findPlan } from '../../core/tenancy/policies.ts'
import { loopTurns } from '../../http/fairness/loop-turns.ts'
import { parseBearer } from '../../http/head/request-headers.ts'
import { beginTrace } from '../request/begin-trace.ts'
import { assertNoNamedEndUser, assertNotBlocked } from '../request/name-end-user.ts'
import type { RequestContext } from '../request/request-context.ts'
import { assertPlanScope } from '../targets/assert-plan-scope.ts'
import type { Tenant } from '../tenants/snapshots.ts'
import type { EdgeDeps } from './edge-deps.ts'

/**
 * Finds the tenant of the request's credential, before the body is read, so that an unknown caller causes no read,
 * parse or query of a body. Synchronous if the credential is in memory, which is the normal case.
 */
export function identify(ctx: RequestContext, deps: EdgeDeps): void | Promise<void> {
  const misplaced = checkUrl(ctx)
  if (misplaced !== undefined) {
    deps.frontDoor.countUnknown(ctx)
    throw misplaced
  }
  const token = readCredential(ctx)
  if (token === undefined) {
    deps.frontDoor.countUnknown(ctx)
    const explained = ctx.route.mount.explainCredential?.(ctx.req.headers.authorization)
    throw new Fault('unauthenticated', explained ?? SEND_A_KEY)
  }
  const digest = hash('sha256', token, 'hex')
  const known = deps.snapshots.find(digest)
  if (known !== undefined) return accept(ctx, known, deps)
  return identifySlowly(ctx, token, digest, deps)
}

const SEND_A_KEY = 'Send a secret key or client token as "Authorization: Bearer …".'

/**
 * Returns the credential of the request. Clients of some formats send their key in a header of its own, as a Bearer
 * token, or both. Of two, the one with the form of a Rideau key counts.
 */
function readCredential({ req, route }: RequestContext): string | undefined {
  const bearer = parseBearer(req.headers.authorization)
  const { keyHeader } = route.mount
  const apiKey = keyHeader === undefined ? undefined : req.headers[keyHeader]
  if (typeof apiKey !== 'string' || apiKey === '') return bearer
  if (bearer === undefined) return apiKey
  return parseKeyText(bearer) === undefined && parseKeyText(apiKey) !== undefined ? apiKey : bearer
}

/** Returns `unauthenticated` if the URL contains a key. Proxies log URLs, so others may have read it. */
function checkUrl({ req, route }: RequestContext): Fault | undefined {
  const { refusedKeyParam, keyHeader = 'authorization' } = route.mount
  const query = refusedKeyParam === undefined ? undefined : req.url?.split('?')[1]
  if (refusedKeyParam === undefined || query === undefined) return undefined
  if (!new URLSearchParams(query).has(refusedKeyParam)) return undefined
  const message = `${refusedKeyParam}: must not contain a key, since URLs are logged. Roll this key, and send keys in the header ${keyHeader}.`
  return new Fault('unauthenticated', message, { param: refusedKeyParam })
}

/**
 * Looks up a credential that is not in memory. Its address is counted before any signature is verified or any query is
 * sent, unless the credential was valid before.
 */
async function identifySlowly(
  ctx: RequestContext,
  token: string,
  digest: string,
  deps: EdgeDeps,
): Promise<void> {
  const { frontDoor } = deps
  const address = frontDoor.proven.has(digest) ? undefined : frontDoor.countUnknown(ctx)
  const tenant = await getTenant(token, digest, deps)
  if (address !== undefined) frontDoor.refund(address)
  accept(ctx, tenant, deps)
}

/** Throws if the credential is not valid. */
async function getTenant(token: string, digest: string, deps: EdgeDeps): Promise<Tenant> {
  const { proven } = deps.frontDoor
  const form = parseKeyText(token)
  try {
    // The gateway accepts no management keys. The checksum of a mistyped key fails without a query.
    if (form?.kind === 'management') throw new Fault('invalid_key', MANAGEMENT_KEY)
    const tenant =
      form === undefined ? await findTokenTenant(token, digest, deps) : await deps.snapshots.load(digest)
    if (tenant === undefined) throw unknownCredential()
    proven.add(digest, form === undefined ? 'token' : 'key', tenant.environment.orgId)
    return tenant
  } catch (thrown) {
    // An outage proves nothing about the credential.
    if (thrown instanceof Fault && thrown.status === 401) proven.delete(digest)
    throw thrown
  }
}

/**
 * Returns the tenant of a client token, or undefined if the token is invalid. Verifies the signature on every call;
 * tokens in the snapshot cache were verified before they were cached.
 */
async function findTokenTenant(token: string, digest: string, deps: EdgeDeps): Promise<Tenant | undefined> {
  const kid = readTokenKid(token)
  if (kid === undefined) return undefined
  const key = await deps.signingKeys.find(kid)
  if (key === undefined) return undefined
  const claims = verifyClientToken(token, key.publicKey, { issuer: deps.gatewayUrl(), now: deps.now() })
  if (claims === 'invalid_key') return undefined
  // A token by a key that is not published any more cannot be younger, whatever it says.
  const hasExpired = claims === 'key_expired' || !key.isPublished
  if (hasExpired) throw new Fault('key_expired', 'This client token has expired.')
  return await deps.snapshots.loadToken(digest, claims, kid)
}

function accept(ctx: RequestContext, tenant: Tenant, deps: EdgeDeps): void {
  // A request that the front door refuses leaves no record, since its context has no caller yet.
  const scope = deps.frontDoor.countKnown(ctx, tenant)
  if (ctx.route.needsPermit) deps.frontDoor.enter(ctx, scope)
  authorize(ctx, tenant, deps)
  loopTurns.noteRequest(tenant.caller, ctx.startedAt)
}

/** How old what identification found may be after a wait. */
const FRESH_MS = 250

/**
 * Identifies a request anew that waited for its body or for the answer of another one. Otherwise a revoked key, a blocked end user
 * or an earlier limit would be used for as long as that takes. Returns whether anything changed, at once if it is in memory. Then the
 * end user that a secret key names must be named again.
 */
export function reidentify(ctx: RequestContext, deps: EdgeDeps): boolean | Promise<boolean> {
  if (ctx.elapsedMs() < FRESH_MS) return false
  const token = readCredential(ctx) ?? ''
  const digest = hash('sha256', token, 'hex')
  const known = deps.snapshots.find(digest)
  if (known !== undefined) return reauthorize(ctx, known, deps)
  return getTenant(token, digest, deps).then(tenant => reauthorize(ctx, tenant, deps))
}

function reauthorize(ctx: RequestContext, tenant: Tenant, deps: EdgeDeps): boolean {
  const isSame = tenant.caller === ctx.caller && tenant.environment === ctx.environment
  if (isSame) assertAllowed(checkLifetime(tenant.lifetime, tenant.environment, deps.now()))
  else authorize(ctx, tenant, deps)
  return !isSame
}

/** Sets the caller of the request. Throws what the caller's rights refuse. */
function authorize(ctx: RequestContext, { caller, lifetime, environment }: Tenant, deps: EdgeDeps): void {
  const now = deps.now()
  const { origin } = ctx.req.headers
  assertAllowed(checkLifetime(lifetime, environment, now))
  if (caller.keyId !== null) deps.lastUsed.note(caller.keyId, now)
  const refusal = checkEndpoint(caller, ctx.route.need)
  // Anybody can read a publishable key out of an app, and would fill its organization's log.
  if (refusal !== undefined && caller.kind === 'publishable') throw toRefusalFault(refusal)
  ctx.caller = caller
  ctx.environment = environment
  if (deps.tracer !== undefined) ctx.trace ??= beginTrace(ctx, caller, environment, deps.tracer)
  ctx.credentialExpiresAt = lifetime.expiresAt
  ctx.endUser = caller.endUser ?? undefined
  assertNotBlocked(ctx)
  assertAllowed(refusal)
  // The end user that a secret key names may stand in the body: its plan is asked in get-meters.ts.
  if (caller.endUser !== null)
    assertPlanScope(findPlan(environment.policies.plans, caller.endUser.plan), ctx.route.need)
  if (caller.kind === 'secret') assertAllowed(checkOrigin(environment, origin))
  else if (origin !== undefined) assertAllowed(checkClientOrigin(caller, environment, origin, deps.baseUrl()))
  assertNoNamedEndUser(ctx)
}

function assertAllowed(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw toRefusalFault(refusal)
}

const MANAGEMENT_KEY =
  'A management key is for the control plane; the gateway accepts secret keys and client tokens.'

function unknownCredential(): Fault {
  return new Fault('invalid_key', 'The gateway does not recognize this credential.')
}
