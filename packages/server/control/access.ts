import { hash } from 'node:crypto'
import { hashKeyText, parseKeyText } from '../core/access/key-format.ts'
import {
  type Actor,
  hasRole,
  hasRoleAnywhere,
  type ManagementKeyActor,
  organizationsOf,
  roleIn,
} from '../core/access/permissions.ts'
import { Fault } from '../core/fault.ts'
import { isUuid } from '../core/ids.ts'
import { parseBearer } from '../http/head/request-headers.ts'
import { findManagementKeyByHash, updateManagementKeyLastUsed } from '../storage/keys/management-keys.ts'
import { inTenantScope } from '../storage/tenant-scope.ts'
import { assertSameOriginWrite, type Caller } from './operation/caller.ts'
import { type GrantedAccess, insufficientRole, noResource } from './operation/granted-access.ts'
import { type Operation, PARAM_OF, type Services } from './operation/operation.ts'
import { findResource } from './operation/resources.ts'
import { findSession } from './session/find-session.ts'
import { readSessionToken } from './session/session-cookie.ts'

/**
 * Authorizes a call; every operation goes through it before its body is read. Checks the credential, the form of the
 * path, the resource, its organization and the actor's role there, in this order. A resource that the actor may not see
 * answers like one that does not exist: 404.
 */
export async function grantAccess(
  services: Services,
  operation: Operation,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): Promise<GrantedAccess> {
  const { access } = operation
  if (access === 'public') services.rates.countUnknown(caller.address)
  const actor = access === 'public' ? undefined : await admit(services, caller)
  for (const name of operation.paramNames) {
    if (!isUuid(params[name] ?? '')) {
      throw new Fault('request_validation_failed', `${name} must be a UUID.`, { param: name })
    }
  }
  if (access === 'public' || actor === undefined) return { actor, ...NO_RESOURCE }
  if (access === 'session') {
    if (actor.kind !== 'member') {
      throw new Fault('insufficient_role', 'This operation needs a session, not a management key.')
    }
    return { actor, ...NO_RESOURCE }
  }
  if (access.of === 'actor') {
    if (!hasRoleAnywhere(actor, access.role)) throw insufficientRole(access.role)
    return { actor, ...NO_RESOURCE }
  }
  const { of } = access
  const found = await inTenantScope(
    services.wholeDb,
    organizationsOf(actor),
    db => findResource(db, of, params[PARAM_OF[of]] as string, actor),
    services.scopeSlots.admitBy({ actor, orgId: undefined }),
  )
  const role = found === undefined ? undefined : roleIn(actor, found.orgId)
  if (found === undefined || role === undefined) throw noResource()
  if (!hasRole(role, access.role)) throw insufficientRole(access.role)
  return { actor, role, resource: found.row, orgId: found.orgId }
}

const NO_RESOURCE = { role: undefined, resource: undefined, orgId: undefined }

/** How stale a key's `last_used_at` may be. One write a minute is enough for any number of calls. */
const TOUCH_INTERVAL_MS = 60_000

/**
 * Returns the actor behind the call's credential. Its address is counted before anything is looked up, unless the
 * credential was valid before: many people and programs may share one address.
 */
async function admit(services: Services, caller: Caller): Promise<Actor> {
  const { rates } = services
  const bearer = parseBearer(caller.authorization)
  const token = bearer ?? readSessionToken(caller, services.baseUrl())
  const digest = token === undefined ? undefined : hash('sha256', token, 'hex')
  const isProven = digest !== undefined && rates.proven.has(digest)
  if (!isProven) rates.countUnknown(caller.address)
  try {
    const actor = await identify(services, caller, bearer)
    if (!isProven) rates.refund(caller.address)
    const owner = actor.kind === 'member' ? actor.id : actor.orgId
    if (digest !== undefined) rates.proven.add(digest, bearer === undefined ? 'token' : 'key', owner)
    return actor
  } catch (thrown) {
    if (digest !== undefined && thrown instanceof Fault && thrown.status === 401) rates.proven.delete(digest)
    throw thrown
  }
}

/**
 * Returns the actor behind the call's credential, or throws the fault for it. A Bearer token takes precedence over a
 * cookie.
 */
async function identify(services: Services, caller: Caller, bearer: string | undefined): Promise<Actor> {
  const actor =
    bearer === undefined ? await identifyPerson(services, caller) : await identifyKey(services, bearer)
  services.rates.countCall(actor.kind === 'member' ? actor.sessionId : actor.id)
  return actor
}

async function identifyPerson(services: Services, caller: Caller): Promise<Actor> {
  const actor = await findSession(services, caller)
  if (actor === undefined) {
    throw new Fault('unauthenticated', 'Sign in, or send a management key as Authorization: Bearer.')
  }
  assertSameOriginWrite(caller, services.baseUrl())
  return actor
}

async function identifyKey(services: Services, text: string): Promise<ManagementKeyActor> {
  // The text alone identifies a mistyped key or one of another kind, without a lookup.
  const form = parseKeyText(text)
  if (form !== undefined && form.kind !== 'management') {
    throw new Fault(
      'invalid_key',
      `A ${form.kind} key is for the gateway; this host accepts management keys only.`,
    )
  }
  const row = form === undefined ? undefined : await findManagementKeyByHash(services.db, hashKeyText(text))
  if (row === undefined) throw new Fault('invalid_key', 'The credential is not a known management key.')
  if (row.revoked_at !== null || row.org_deleted_at !== null) {
    throw new Fault('key_revoked', 'The management key was revoked.')
  }
  const now = services.clock.now()
  if (row.expires_at !== null && row.expires_at.getTime() <= now) {
    throw new Fault('key_expired', 'The management key has expired.')
  }
  if (row.last_used_at === null || row.last_used_at.getTime() <= now - TOUCH_INTERVAL_MS) {
    await updateManagementKeyLastUsed(services.db, row.id, new Date(now))
  }
  return { kind: 'management_key', id: row.id, orgId: row.org_id, role: row.role }
}
