import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import { isEndUserId, isReservedEndUserId } from '../../core/tenancy/end-users.ts'
import { findEndUser, findEndUserId } from '../../storage/end-users/end-users.ts'
import { findKey } from '../../storage/keys/keys.ts'
import type { Db } from '../../storage/pool.ts'
import { isEndUserLogged } from '../../storage/records/request-log-list.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { findProject } from '../../storage/tenancy/projects.ts'
import { z } from './zod.ts'

/** Not trimmed: an end user's name must equal the one in tokens and requests. */
export const scopeRefField = z
  .string()
  .refine(isEndUserId, 'must have 1 to 255 characters, no control characters')
  .meta({
    minLength: 1,
    maxLength: 255,
    description:
      "What the scope names: the id of a project, environment or key; of an end user its external_id, also before its first request, or its record's id.",
  })

/** The owner of a limit, quota or budget: an organization, a project or an environment. */
export interface Owner {
  readonly org_id: string
  readonly project_id: string | null
  readonly environment_id: string | null
}

export type Scope = 'org' | 'project' | 'environment' | 'key' | 'end_user' | 'default_end_user'

/** The scope of a stored rule. */
export interface StoredScope {
  readonly scope: Scope | null
  readonly scope_ref: string | null
}

/**
 * Returns the stored form of a scope_ref: the id of something below the owner, or an end user's external id, which needs no
 * record: a rule may be older than the end user's first request. Null if the scope is the owner itself, or `default_end_user`, which means every end user without a limit of its own. Throws 400 for
 * anything else. `stored`: the rule that is changed. What it names may be deleted, which must not prevent a change of something else.
 */
export async function parseScopeRef(
  db: Db,
  owner: Owner,
  scope: Scope,
  ref: string | null,
  stored?: StoredScope,
): Promise<string | null> {
  if (stored?.scope === scope && stored.scope_ref === ref) return ref
  if (scope === 'default_end_user') {
    if (ref !== null) throw refusal('scope_ref must be absent for the scope default_end_user.')
    return null
  }
  if (ref === null) {
    if (isOwner(owner, scope)) return null
    throw refusal(`The scope ${scope} needs a scope_ref: ${NAMES[scope]}.`)
  }
  const found = await find(db, owner, scope, ref)
  if (found !== undefined) return found
  if (scope === 'end_user' && isReservedEndUserId(ref)) {
    throw refusal(
      `scope_ref must name a device or member that made a request before, since the app assigns names that begin with device: or member:; got ${ref}.`,
    )
  }
  throw refusal(`scope_ref was not found; it must be ${NAMES[scope]}.`)
}

const NAMES = {
  org: "the organization's id",
  project: "a project's id",
  environment: "an environment's id",
  key: "a key's id",
  end_user: "an end user's external_id or id",
}

function isOwner(owner: Owner, scope: Scope): boolean {
  if (scope === 'environment') return owner.environment_id !== null
  if (scope === 'project') return owner.project_id !== null && owner.environment_id === null
  return scope === 'org' && owner.project_id === null
}

async function find(
  db: Db,
  owner: Owner,
  scope: keyof typeof NAMES,
  ref: string,
): Promise<string | undefined> {
  if (scope === 'end_user') {
    return owner.environment_id === null ? undefined : await findEndUserName(db, owner.environment_id, ref)
  }
  if (!isUuid(ref)) return undefined
  if (scope === 'org') return ref.toLowerCase() === owner.org_id ? owner.org_id : undefined
  const row = await FIND[scope](db, ref)
  return row !== undefined && isBelow(owner, row) ? row.id : undefined
}

const FIND = {
  project: async (db: Db, id: string) => {
    const row = await findProject(db, id)
    return row && { id: row.id, org_id: row.org_id, project_id: row.id, environment_id: null }
  },
  environment: async (db: Db, id: string) => {
    const row = await findEnvironment(db, id)
    return row && { id: row.id, org_id: row.org_id, project_id: row.project_id, environment_id: row.id }
  },
  key: findKey,
}

/** Undefined for a name that only the app assigns, and has not assigned. */
async function findEndUserName(db: Db, environmentId: string, ref: string): Promise<string | undefined> {
  const record = isUuid(ref) ? await findEndUser(db, ref) : undefined
  if (record?.environment_id === environmentId) return record.external_id
  if (!isReservedEndUserId(ref) || (await isKnownEndUser(db, environmentId, ref))) return ref
  return undefined
}

/** An end user that was only named in requests may have no record. */
async function isKnownEndUser(db: Db, environmentId: string, externalId: string): Promise<boolean> {
  if ((await findEndUserId(db, environmentId, externalId)) !== undefined) return true
  return await isEndUserLogged(db, environmentId, externalId)
}

function isBelow(owner: Owner, row: Owner): boolean {
  return (
    row.org_id === owner.org_id &&
    (owner.project_id === null || row.project_id === owner.project_id) &&
    (owner.environment_id === null || row.environment_id === owner.environment_id)
  )
}

function refusal(message: string): Fault {
  return new Fault('invalid_request', message, { param: 'scope_ref' })
}
