import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import {
  type Binding,
  type CountedRecords,
  hasMoreRecords,
  hasMoreRules,
  measureEnvironment,
} from '../../storage/record-bounds.ts'
import type { Services } from './operation.ts'

interface RecordBound extends CountedRecords {
  readonly most: number
  /** What there are too many of. */
  readonly noun: string
  /** How one makes room. Default: deleting one. */
  readonly remedy?: string
}

const KEYS = { table: 'keys', owner: 'environment_id', where: 'active', noun: 'keys' } as const
const REVOKE = 'revoke one that is not used'
const PROVIDER_CREDENTIALS: RecordBound = {
  table: 'provider_credentials',
  owner: 'environment_id',
  most: 1_000,
  noun: 'provider credentials',
}

/**
 * The most records that an owner may have, by the operation that makes one. Every gateway worker holds what an environment has, reads all of
 * it after each change, and looks through it for some requests. docs/control-plane.md lists these numbers.
 */
export const RECORD_BOUNDS: ReadonlyMap<string, RecordBound> = new Map<string, RecordBound>([
  ['keys.create', { ...KEYS, most: 100_000, remedy: REVOKE }],
  // A key that leaks must be rolled even where no more can be created. The old one counts until it expires.
  ['keys.roll', { ...KEYS, most: 200_000, remedy: REVOKE }],
  ['provider_credentials.create', PROVIDER_CREDENTIALS],
  ['provider_credentials.create_in_project', PROVIDER_CREDENTIALS],
  [
    'model_aliases.create',
    { table: 'model_aliases', owner: 'environment_id', most: 1_000, noun: 'model aliases' },
  ],
  [
    'custom_models.create',
    { table: 'custom_models', owner: 'environment_id', most: 2_000, noun: 'custom models' },
  ],
  [
    'plans.create',
    { table: 'plans', owner: 'environment_id', where: 'not deleted', most: 200, noun: 'plans' },
  ],
  ['limits.create', { table: 'limits', owner: 'environment_id', most: 10_000, noun: 'limits' }],
  ['quotas.create', { table: 'quotas', owner: 'environment_id', most: 10_000, noun: 'quotas' }],
  ['budgets.create', { table: 'budgets', owner: 'project_id', most: 2_000, noun: 'budgets' }],
  [
    'limits.create_in_organization',
    {
      table: 'limits',
      owner: 'org_id',
      where: 'without environment',
      most: 2_000,
      noun: 'limits of its own',
    },
  ],
  [
    'budgets.create_in_organization',
    { table: 'budgets', owner: 'org_id', where: 'without project', most: 2_000, noun: 'budgets of its own' },
  ],
  [
    'projects.create',
    { table: 'projects', owner: 'org_id', where: 'not deleted', most: 1_000, noun: 'projects' },
  ],
  ['webhooks.create', { table: 'webhooks', owner: 'org_id', most: 100, noun: 'webhooks' }],
  ['members.invite', { table: 'members', owner: 'org_id', most: 10_000, noun: 'members and invitations' }],
  [
    'management_keys.create',
    {
      table: 'management_keys',
      owner: 'org_id',
      where: 'active',
      most: 1_000,
      noun: 'management keys',
      remedy: REVOKE,
    },
  ],
])

/**
 * The most limits, quotas or budgets of one owner that one scope may have: each request is checked against all of those that bind it, and
 * each running request, and each counter of an end user, takes memory for each of them.
 */
export const MAX_RULES = 50

/** The operations that write a rule, and its table. */
const RULES: ReadonlyMap<string, Binding['table']> = new Map([
  ['limits.create', 'limits'],
  ['limits.create_in_organization', 'limits'],
  ['limits.update', 'limits'],
  ['quotas.create', 'quotas'],
  ['quotas.update', 'quotas'],
  ['budgets.create', 'budgets'],
  ['budgets.create_in_organization', 'budgets'],
  ['budgets.update', 'budgets'],
])

/** The operations that may write long texts into an environment. */
const WRITING = new Set([
  'environments.update',
  'plans.create',
  'plans.update',
  'model_aliases.create',
  'model_aliases.update',
  'custom_models.create',
  'custom_models.update',
  'provider_credentials.create',
  'provider_credentials.create_in_project',
  'provider_credentials.update',
])
/** The most bytes of the texts of one environment: what its gateways read after each change. */
export const MAX_ENVIRONMENT_BYTES = 4 * 1024 * 1024

/**
 * Throws 409 `resource_conflict` if the owner of what the operation wrote has too many records now, or its environment too many bytes and
 * more than before: one that is too large already, from an earlier version, can be made smaller step by step. For the transaction of
 * the write, which is rolled back then. `resource`: that of the operation's path. `result`: the written record.
 */
export async function assertWithinBounds(
  { db, wholeDb, clock }: Pick<Services, 'db' | 'wholeDb' | 'clock'>,
  operationName: string,
  resource: unknown,
  result: unknown,
): Promise<void> {
  const bound = RECORD_BOUNDS.get(operationName)
  if (bound !== undefined) {
    const ownerId = toOwner(bound.owner, resource, result)
    if (await hasMoreRecords(db, bound, ownerId, bound.most, new Date(clock.now()))) throw tooMany(bound)
  }
  const rules = RULES.get(operationName)
  if (rules !== undefined) await assertFewRules(db, rules, result as Rule, resource)
  if (!WRITING.has(operationName)) return
  const id = toOwner('environment_id', resource, result)
  const bytes = await measureEnvironment(db, id)
  if (bytes <= MAX_ENVIRONMENT_BYTES) return
  // Another connection sees what is committed, which is what was there before.
  if (bytes <= (await measureEnvironment(wholeDb, id))) return
  const most = `${MAX_ENVIRONMENT_BYTES / 1024 / 1024} MiB`
  throw new Fault(
    'resource_conflict',
    `The environment would have ${bytes} bytes of allow-lists, plans, aliases, custom models and credentials, and may have ${most}. Shorten or delete some first.`,
  )
}

/** A limit, quota or budget, as the API shows it. */
interface Rule {
  readonly id: string
  readonly org_id?: string
  readonly project_id: string | null
  readonly environment_id?: string | null
  readonly scope: string | null
  readonly scope_ref: string | null
}

/** A rule that was there before may be changed, but for its scope, also among more than MAX_RULES. */
async function assertFewRules(db: Db, table: Binding['table'], rule: Rule, resource: unknown): Promise<void> {
  const { id, scope, scope_ref: scopeRef } = rule
  const { scope: scopeBefore, scope_ref: refBefore } = resource as Partial<Rule>
  if (scope === scopeBefore && scopeRef === refBefore) return
  const owner = toRuleOwner(rule)
  const ownerId = rule[owner] as string
  const ofOrganization = owner === 'org_id'
  if (!(await hasMoreRules(db, { table, owner, ofOrganization, ownerId, id }, MAX_RULES))) return
  const message = `At most ${MAX_RULES} ${table} may have the same owner and scope: delete one first.`
  throw new Fault('resource_conflict', message, { param: 'scope' })
}

function toRuleOwner({ environment_id, project_id }: Rule): Binding['owner'] {
  if (typeof environment_id === 'string') return 'environment_id'
  return project_id === null ? 'org_id' : 'project_id'
}

/** Returns the owner's id from the written record or, where that does not name it, of the path. */
function toOwner(owner: CountedRecords['owner'], resource: unknown, result: unknown): string {
  const { id } = resource as { readonly id: string }
  const { [owner]: named } = result as Readonly<Record<CountedRecords['owner'], string | undefined>>
  return named ?? id
}

const WHOSE = {
  environment_id: 'An environment',
  project_id: 'A project',
  org_id: 'An organization',
} as const

function tooMany({ owner, most, noun, remedy = 'delete one' }: RecordBound): Fault {
  const message = `${WHOSE[owner]} may have at most ${most.toLocaleString('en-US')} ${noun}: ${remedy} first.`
  return new Fault('resource_conflict', message)
}
