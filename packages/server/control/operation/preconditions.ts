import { type RawBuilder, sql } from 'kysely'
import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import { lockEnvironment } from '../../storage/tenancy/environments.ts'
import { lockOrganization } from '../../storage/tenancy/organizations.ts'
import type { ResourceKind, Resources } from './resources.ts'

const MESSAGE = 'The resource changed since you read it. Read it again, then repeat the change.'

/** The table of each kind of record that may be changed under `If-Match`. A log record never changes. */
const TABLES: Readonly<Partial<Record<ResourceKind, string>>> = {
  org: 'organizations',
  project: 'projects',
  environment: 'environments',
  key: 'keys',
  model_alias: 'model_aliases',
  custom_model: 'custom_models',
  member: 'members',
  management_key: 'management_keys',
  limit: 'limits',
  quota: 'quotas',
  budget: 'budgets',
  plan: 'plans',
  end_user: 'end_users',
  // Changing these two may ask another host first, for which no connection is held: they are compared without a lock.
  provider_credential: '',
  webhook: '',
}

/**
 * Locks the owner of a record of these kinds. Their operations lock it before records, so the comparison does too: two calls
 * that lock the same rows in different orders would wait for each other.
 */
const OWNER_LOCKS: {
  readonly [Kind in ResourceKind]?: (db: Db, resource: Resources[Kind]) => Promise<void>
} = {
  member: (db, { org_id }) => lockOrganization(db, org_id),
  plan: (db, { environment_id }) => lockEnvironment(db, environment_id),
}

/** Returns true if records of the kind have an entity tag. */
export function hasTag(kind: ResourceKind): boolean {
  return TABLES[kind] !== undefined
}

/** Returns the entity tag of a record: when it was last changed, in quotes. */
export function toTag(updatedAt: string): string {
  return `"${updatedAt}"`
}

/** Throws `resource_conflict` unless `If-Match` names the version. */
export function assertMatch(ifMatch: string, resource: object | undefined): void {
  const updatedAt = (resource as { readonly updated_at?: Date } | undefined)?.updated_at
  const tags = ifMatch.split(',').map(tag => tag.trim())
  if (tags.includes('*')) return
  if (updatedAt !== undefined && tags.includes(toTag(updatedAt.toISOString()))) return
  throw new Fault('resource_conflict', MESSAGE, { param: 'If-Match' })
}

/** Throws `resource_conflict` unless `If-Match` names the stored version, and locks the record until the transaction ends. */
export async function assertStillMatch<Kind extends ResourceKind>(
  db: Db,
  ifMatch: string,
  kind: Kind,
  resource: Resources[Kind],
): Promise<void> {
  const table = TABLES[kind]
  if (table === undefined || table === '') return
  await OWNER_LOCKS[kind]?.(db, resource)
  const query: RawBuilder<{ updated_at: Date }> = sql`
    select updated_at from ${sql.table(table)} where id = ${resource.id} for no key update`
  const { rows } = await query.execute(db)
  assertMatch(ifMatch, rows[0])
}

export function noPreconditions(): Fault {
  return new Fault('invalid_request', 'This route takes no If-Match.', { param: 'If-Match' })
}
