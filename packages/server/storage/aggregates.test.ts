import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import {
  addCredential,
  addEndUser,
  addKey,
  addManagementKey,
  addMember,
  addProject,
  addTree,
  below,
  CREATED,
  newId,
  type Tree,
} from '../testing/harness/storage-rows.ts'
import { findEndUser, listEndUsers, removeEndUser, updateEndUser } from './end-users/end-users.ts'
import { findWebhook, insertWebhook, listWebhooks, removeWebhook } from './events/webhooks.ts'
import { findKey, listKeys } from './keys/keys.ts'
import { findManagementKey, listManagementKeys } from './keys/management-keys.ts'
import {
  findCustomModel,
  insertCustomModel,
  listCustomModels,
  removeCustomModel,
} from './models/custom-models.ts'
import {
  findModelAlias,
  insertModelAlias,
  listModelAliases,
  removeModelAlias,
} from './models/model-aliases.ts'
import {
  findProviderCredential,
  listProviderCredentials,
  removeProviderCredential,
} from './models/provider-credentials.ts'
import type { Page } from './page.ts'
import {
  findBudget,
  insertBudget,
  listOrganizationBudgets,
  listProjectBudgets,
  removeBudget,
} from './policies/budgets.ts'
import {
  findLimit,
  insertLimit,
  listEnvironmentLimits,
  listOrganizationLimits,
  removeLimit,
} from './policies/limits.ts'
import { findPlan, insertPlan, listPlans, removePlan } from './policies/plans.ts'
import { findQuota, insertQuota, listQuotas, removeQuota } from './policies/quotas.ts'
import type { Db } from './pool.ts'
import { findProject, listProjects } from './tenancy/projects.ts'
import { findMember, listMembers, removeMember } from './users/members.ts'

interface ListedRow {
  readonly id: string
  readonly created_at: Date
}

/** What all aggregates have in common. `insert` returns the id of a new row of the tree. */
interface Aggregate {
  readonly name: string
  insert(db: Db, tree: Tree, created_at: Date): Promise<string>
  find(db: Db, id: string): Promise<ListedRow | undefined>
  list(db: Db, tree: Tree, page: Page): Promise<readonly ListedRow[]>
  /** Absent: rows are never removed. */
  readonly remove?: (db: Db, id: string) => Promise<boolean>
  /** Whose deletion hides the row from `find`. */
  readonly owners: readonly ('project' | 'organization')[]
}

const LIMIT = { scope_ref: null, metric: 'requests', limit: 10, window_seconds: 60 } as const
const BUDGET = { scope: null, scope_ref: null, limit_nano_usd: 1, window: 'day', on_tight: 'cap' } as const
const NO_BOUNDS = {
  allowed_models: null,
  scopes: null,
  requests_per_minute: null,
  max_concurrency: null,
  tokens_per_day: null,
  nano_usd_per_month: null,
}
const IN_PROJECT = ['project', 'organization'] as const
const IN_ORGANIZATION = ['organization'] as const

const AGGREGATES: readonly Aggregate[] = [
  {
    name: 'projects',
    insert: async (db, { organization }, created_at) =>
      (await addProject(db, organization, { created_at })).id,
    find: findProject,
    list: async (db, { organization, project }, page) => {
      const rows = await listProjects(db, organization.id, page)
      return rows.filter(({ id }) => id !== project.id)
    },
    owners: IN_ORGANIZATION,
  },
  {
    name: 'keys',
    insert: async (db, { environment }, created_at) => (await addKey(db, environment, { created_at })).id,
    find: findKey,
    list: (db, { environment }, page) => listKeys(db, environment.id, page),
    owners: IN_PROJECT,
  },
  {
    name: 'management keys',
    insert: async (db, { organization }, created_at) =>
      (await addManagementKey(db, organization, { created_at })).id,
    find: findManagementKey,
    list: (db, { organization }, page) => listManagementKeys(db, organization.id, page),
    owners: IN_ORGANIZATION,
  },
  {
    name: 'members',
    insert: async (db, { organization }, created_at) =>
      (await addMember(db, organization, { created_at })).id,
    find: findMember,
    list: (db, { organization }, page) => listMembers(db, organization.id, page),
    remove: removeMember,
    owners: IN_ORGANIZATION,
  },
  {
    name: "a project's provider credentials",
    insert: async (db, { environment }, created_at) =>
      (await addCredential(db, environment, { created_at })).id,
    find: findProviderCredential,
    list: (db, { project }, page) =>
      listProviderCredentials(db, { column: 'project_id', id: project.id }, page),
    remove: removeProviderCredential,
    owners: IN_PROJECT,
  },
  {
    name: "an environment's provider credentials",
    insert: async (db, { environment }, created_at) =>
      (await addCredential(db, environment, { created_at })).id,
    find: findProviderCredential,
    list: (db, { environment }, page) =>
      listProviderCredentials(db, { column: 'environment_id', id: environment.id }, page),
    remove: removeProviderCredential,
    owners: IN_PROJECT,
  },
  {
    name: 'model aliases',
    async insert(db, { environment }, created_at) {
      const row = { ...below(environment), alias: newId(), strategy: 'priority', targets: '[]' } as const
      return (await insertModelAlias(db, { ...row, created_at })).id
    },
    find: findModelAlias,
    list: (db, { environment }, page) => listModelAliases(db, environment.id, page),
    remove: removeModelAlias,
    owners: IN_PROJECT,
  },
  {
    name: 'custom models',
    async insert(db, { environment }, created_at) {
      const limits = { context_window: null, max_output_tokens: null, pricing: null }
      const row = { ...below(environment), model: `custom/${newId()}`, capabilities: [], ...limits }
      return (await insertCustomModel(db, { ...row, created_at })).id
    },
    find: findCustomModel,
    list: (db, { environment }, page) => listCustomModels(db, environment.id, page),
    remove: removeCustomModel,
    owners: IN_PROJECT,
  },
  {
    name: "an environment's limits",
    insert: async (db, { environment }, created_at) =>
      (await insertLimit(db, { ...below(environment), scope: 'environment', ...LIMIT, created_at })).id,
    find: findLimit,
    list: (db, { environment }, page) => listEnvironmentLimits(db, environment.id, page),
    remove: removeLimit,
    owners: IN_PROJECT,
  },
  {
    name: "an organization's limits",
    async insert(db, { environment }, created_at) {
      const owner = { ...below(environment), project_id: null, environment_id: null }
      return (await insertLimit(db, { ...owner, scope: 'org', ...LIMIT, created_at })).id
    },
    find: findLimit,
    list: (db, { organization }, page) => listOrganizationLimits(db, organization.id, page),
    remove: removeLimit,
    owners: IN_ORGANIZATION,
  },
  {
    name: 'quotas',
    async insert(db, { environment }, created_at) {
      const amount = { metric: 'tokens', window: 'day', limit: 10, grace_pct: 0 } as const
      const row = { ...below(environment), scope: 'environment', scope_ref: null, ...amount } as const
      return (await insertQuota(db, { ...row, created_at })).id
    },
    find: findQuota,
    list: (db, { environment }, page) => listQuotas(db, environment.id, page),
    remove: removeQuota,
    owners: IN_PROJECT,
  },
  {
    name: "a project's budgets",
    async insert(db, { environment }, created_at) {
      const { environment_id: _, ...owner } = below(environment)
      return (await insertBudget(db, { ...owner, ...BUDGET, alert_pcts: [50], created_at })).id
    },
    find: findBudget,
    list: (db, { project }, page) => listProjectBudgets(db, project.id, page),
    remove: removeBudget,
    owners: IN_PROJECT,
  },
  {
    name: "an organization's budgets",
    async insert(db, { environment }, created_at) {
      const { environment_id: _, ...owner } = below(environment)
      return (await insertBudget(db, { ...owner, project_id: null, ...BUDGET, alert_pcts: [], created_at }))
        .id
    },
    find: findBudget,
    list: (db, { organization }, page) => listOrganizationBudgets(db, organization.id, page),
    remove: removeBudget,
    owners: IN_ORGANIZATION,
  },
  {
    name: 'plans',
    async insert(db, { environment }, created_at) {
      const row = { ...below(environment), name: newId(), ...NO_BOUNDS, is_default: false }
      return (await insertPlan(db, { ...row, created_at })).id
    },
    find: findPlan,
    list: (db, { environment }, page) => listPlans(db, environment.id, page),
    remove: (db, id) => removePlan(db, id, CREATED),
    owners: IN_PROJECT,
  },
  {
    name: 'end users',
    async insert(db, { environment }, created_at) {
      const id = await addEndUser(db, environment, newId())
      await updateEndUser(db, id, { created_at }, created_at)
      return id
    },
    find: findEndUser,
    list: (db, { environment }, page) => listEndUsers(db, environment.id, page),
    remove: removeEndUser,
    owners: IN_PROJECT,
  },
  {
    name: 'webhooks',
    async insert(db, { environment }, created_at) {
      const { project_id: _, environment_id: __, ...owner } = below(environment)
      const row = { url: 'https://hooks.example', events: ['budget.alert'], secret_cipher: Buffer.of(0) }
      await insertWebhook(db, { ...owner, ...row, created_at })
      return owner.id
    },
    find: findWebhook,
    list: (db, { organization }, page) => listWebhooks(db, organization.id, page),
    remove: removeWebhook,
    owners: IN_ORGANIZATION,
  },
]

const REMOVABLE = AGGREGATES.flatMap(aggregate =>
  aggregate.remove === undefined ? [] : [{ ...aggregate, remove: aggregate.remove }],
)

const later = (seconds: number): Date => new Date(CREATED.getTime() + seconds * 1000)
const toIds = (rows: readonly ListedRow[]): string[] => rows.map(({ id }) => id)

describe.each(listTestServers())('on $label', server => {
  let database: FreshDatabase
  let db: Db
  let ours: Tree
  let theirs: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    ours = await addTree(db)
    theirs = await addTree(db)
  })

  describe.each(AGGREGATES)('$name', ({ insert, find, list, owners }) => {
    test('are found by their id, and undefined for an unknown one', async () => {
      const id = await insert(db, ours, CREATED)
      expect(await find(db, id)).toMatchObject({ id, created_at: CREATED })
      expect(await find(db, newId())).toBeUndefined()
    })

    test.each(owners)('are not found once their %s is deleted', async owner => {
      const id = await insert(db, ours, CREATED)
      const other = await insert(db, theirs, CREATED)
      const table = `${owner}s` as const
      await db
        .updateTable(table)
        .set({ deleted_at: later(1) })
        .where('id', '=', ours[owner].id)
        .execute()
      expect(await find(db, id)).toBeUndefined()
      expect(await find(db, other)).toMatchObject({ id: other })
    })

    test('are listed newest first, without those of another organization', async () => {
      const middle = await insert(db, ours, later(2))
      const newest = await insert(db, ours, later(3))
      const oldest = await insert(db, ours, later(1))
      await insert(db, theirs, later(2))
      const page = { limit: 10, after: undefined }
      expect(toIds(await list(db, ours, page))).toEqual([newest, middle, oldest])
      expect(await list(db, theirs, page)).toHaveLength(1)
    })

    test('are each on exactly one page, also with equal times and an insertion between pages', async () => {
      const ids: string[] = []
      for (let n = 0; n < 5; n++) ids.push(await insert(db, ours, later(n < 3 ? 1 : 2)))
      const seen: string[] = []
      let after: Page['after']
      for (;;) {
        const rows = await list(db, ours, { limit: 2, after })
        seen.push(...toIds(rows))
        const last = rows.at(-1)
        if (last === undefined) break
        after = { at: last.created_at, id: last.id }
        await insert(db, ours, later(3))
      }
      expect(seen).toHaveLength(5)
      expect([...seen].sort()).toEqual([...ids].sort())
    })
  })

  describe.each(REMOVABLE)('$name', ({ insert, find, list, remove }) => {
    test('continue after a page whose last row was removed', async () => {
      const ids: string[] = []
      for (let n = 0; n < 4; n++) ids.push(await insert(db, ours, later(n)))
      const [, second] = await list(db, ours, { limit: 2, after: undefined })
      if (second === undefined) throw new Error('the page has two rows')
      await remove(db, second.id)
      const rest = await list(db, ours, { limit: 2, after: { at: second.created_at, id: second.id } })
      expect(toIds(rest)).toEqual([ids[1], ids[0]])
    })

    test('are removed one by one, and twice without an error', async () => {
      const [kept, removed] = [await insert(db, ours, CREATED), await insert(db, ours, CREATED)]
      await remove(db, removed)
      await remove(db, removed)
      expect(await find(db, removed)).toBeUndefined()
      expect(await find(db, kept)).toMatchObject({ id: kept })
    })
  })
})
