import { sql } from 'kysely'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { openAsPlainUser } from '../../testing/harness/plain-user.ts'
import { INSERT_POLICY, putProjectAuth } from '../../testing/harness/policies.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import {
  addCredential,
  addKey,
  addManagementKey,
  addMember,
  addTree,
  addUser,
  below,
  CREATED,
  newId,
  sha256,
  type Tree,
} from '../../testing/harness/storage-rows.ts'
import { insertChallenge, insertDevice } from '../end-users/devices.ts'
import { insertAuditEntry } from '../events/audit-log.ts'
import { insertWebhookDeliveries } from '../events/webhook-deliveries.ts'
import { insertClaims } from '../idempotency/idempotent-answers.ts'
import { insertIdempotentCreate } from '../idempotency/idempotent-creates.ts'
import { storeCircuit } from '../models/circuits.ts'
import { insertCustomModel } from '../models/custom-models.ts'
import { insertModelAlias } from '../models/model-aliases.ts'
import { type Db, openDatabase } from '../pool.ts'
import { inTenantScope } from '../tenant-scope.ts'
import { putSavedView } from './saved-views.ts'

/** Tables whose rows belong to no organization. Every other table needs `org_id`, and gets a policy by it. */
const SHARED_TABLES = [
  'deployment',
  'idempotency_owners',
  'identities',
  'password_resets',
  'retired_master_keys',
  'sessions',
  'signing_keys',
  'users',
]

interface Table {
  readonly name: string
  readonly hasPolicy: boolean
}

/** Every table of the schema, read from the catalog; not partitions, which are reached through their parent. */
async function listTables(pool: Pool): Promise<Table[]> {
  const { rows } = await pool.query<Table>(
    `select c.relname as name,
        c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid) as "hasPolicy"
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname !~ '^kysely_'
      order by 1`,
  )
  return rows
}

/** The column that a table's policy filters by. */
const ownerColumn = (table: string): string => (table === 'organizations' ? 'id' : 'org_id')

/** Inserts a row of the tree into every table that has a policy. */
async function insertEverywhere(database: FreshDatabase): Promise<Tree> {
  const { db, pool } = database
  const tree = await addTree(db)
  const { organization, environment } = tree
  for (const insert of Object.values(INSERT_POLICY)) await insert(db, newId(), environment)
  await putProjectAuth(db, environment)
  await addKey(db, environment)
  await addManagementKey(db, organization)
  await addMember(db, organization)
  const credential = await addCredential(db, environment)
  await insertModelAlias(db, { ...below(environment), alias: 'fast', strategy: 'priority', targets: '[]' })
  const limits = { context_window: null, max_output_tokens: null, pricing: null }
  await insertCustomModel(db, { ...below(environment), model: 'custom/m', capabilities: [], ...limits })
  const clock = { now: () => CREATED.getTime() }
  const times = { openedAt: 0, retryAt: 0, expiresAt: 0, failureRate: 1 }
  const circuit = { credentialId: credential.id, provider: 'p', model: 'm', isOpen: true, isOpening: false }
  await storeCircuit(db, { ...circuit, ...times }, { clock, newId })
  const entry = { operation: 'keys.create', resource: { kind: 'keys', id: null }, before: null, after: null }
  const actor = { kind: 'system', id: null } as const
  const orgIds = [organization.id]
  const origin = { clientAddress: '127.0.0.1', requestId: newId() }
  await insertAuditEntry(db, { orgIds, actor, ...entry, ...origin }, { clock, newId })
  const event = { orgId: organization.id, type: 'budget.alert', at: clock.now(), data: {} }
  await insertWebhookDeliveries(db, event, newId)
  const { id: environmentId, org_id: orgId, project_id: projectId } = environment
  const now = new Date(clock.now())
  await insertChallenge(pool, { hash: sha256(newId()), orgId, environmentId, now, expiresAt: now })
  const key = { keyId: Buffer.of(1), publicKey: Buffer.of(1), appId: 'app', counter: 0, receipt: null }
  const device = { id: newId(), orgId, projectId, environmentId, platform: 'ios', ...key } as const
  await insertDevice(pool, { ...device, statement: {}, now })
  const claim = { id: newId(), hash: sha256(newId()), bodyHash: sha256(newId()), owner: newId() }
  await insertClaims(pool, [{ ...claim, orgId, environmentId }])
  const alert = { counter: newId(), pct: 50, org_id: organization.id, raised_at: CREATED, window_end: null }
  await db.insertInto('alerts').values(alert).execute()
  const answer = { id: newId(), hash: sha256(newId()), answer_cipher: Buffer.alloc(64) }
  await insertIdempotentCreate(db, { ...answer, org_id: organization.id, expires_at: now })
  const view = { id: newId(), user_id: (await addUser(db)).id, page: 'logs', name: 'view', search: '' }
  const stamps = { created_at: CREATED, updated_at: CREATED }
  await putSavedView(db, { ...view, ...stamps, org_id: orgId, environment_id: environmentId })
  await insertRecords(pool, [requestRecord(environment, newId(), clock.now(), { end_user_id: 'alice' })])
  return tree
}

const cases = listTestServers().flatMap(server =>
  (['a user who may create roles', 'an owner who may not create roles'] as const).map(user => ({
    server,
    user,
    label: `${server.label}, as ${user}`,
  })),
)

describe.each(cases)('tenant isolation on $label', ({ server, user }) => {
  let database: FreshDatabase
  let pool: Pool
  let db: Db
  let ours: Tree
  let theirs: Tree
  let tables: readonly Table[]
  beforeAll(async () => {
    database = await freshDatabase(server)
    ours = await insertEverywhere(database)
    theirs = await insertEverywhere(database)
    pool = user === 'an owner who may not create roles' ? await openAsPlainUser(database) : database.pool
    db = openDatabase(pool)
    tables = await listTables(database.pool)
  })
  afterAll(async () => {
    if (pool !== database.pool) await pool.end()
    await database.drop()
  })

  const run = <Row>(statement: string, values: readonly unknown[] = []): Promise<Row[]> =>
    inTenantScope(db, [ours.organization.id], async scoped => {
      const parts = statement.split('?')
      const query = sql<Row>(parts as unknown as TemplateStringsArray, ...values)
      return (await query.execute(scoped)).rows
    })
  /** What a statement did: the number of rows that it returned, or why it was rejected. */
  const outcomeOf = async (statement: string, value: string | undefined): Promise<number | string> => {
    try {
      return (await run(statement, value === undefined ? [] : [value])).length
    } catch (error) {
      const reason = /row-level security|permission denied/.exec((error as Error).message)
      return reason?.[0] ?? String(error)
    }
  }
  /** The result of a check for each table that has a policy, by the table's name. */
  const forEachTable = async <T>(check: (table: string, owner: string) => Promise<T>) => {
    const results: [string, T][] = []
    for (const { name, hasPolicy } of tables) {
      if (hasPolicy) results.push([name, await check(name, ownerColumn(name))])
    }
    return results
  }
  const all = <T>(expected: T): Promise<[string, T][]> => forEachTable(async () => expected)

  test('covers every table: only the shared ones have no policy', () => {
    const open = tables.filter(table => !table.hasPolicy).map(({ name }) => name)
    expect(open).toEqual(SHARED_TABLES)
    expect(tables.length).toBeGreaterThan(25)
  })

  test('would report a table that lacks a policy', async () => {
    await database.pool.query('create table forgotten (id uuid primary key, org_id uuid not null)')
    const found = (await listTables(database.pool)).find(({ name }) => name === 'forgotten')
    expect(found).toEqual({ name: 'forgotten', hasPolicy: false })
    await database.pool.query('drop table forgotten')
  })

  test('is tested with rows of both tenants in every table', async () => {
    const owners = await forEachTable(async (table, owner) => {
      const { rows } = await database.pool.query(`select distinct ${owner} as owner from ${table}`)
      return rows.map(row => row.owner).sort()
    })
    expect(owners).toEqual(await all([ours.organization.id, theirs.organization.id].sort()))
  })

  test('a scope reads its own rows of every table and no others', async () => {
    const owners = await forEachTable(async (table, owner) => {
      const rows = await run<{ owner: string }>(`select distinct ${owner} as owner from ${table}`)
      return rows.map(row => row.owner)
    })
    expect(owners).toEqual(await all([ours.organization.id]))
  })

  test('a scope updates and deletes no row of another tenant in any table', async () => {
    const stranger = theirs.organization.id
    const outcomes = await forEachTable(async (table, owner) => [
      await outcomeOf(`update ${table} set ${owner} = ${owner} where ${owner} = ? returning 1`, stranger),
      await outcomeOf(`delete from ${table} where ${owner} = ? returning 1`, stranger),
    ])
    const changed = outcomes.filter(([, results]) => results.some(result => result !== 0))
    // The audit log is append-only for the role.
    const denied = ['permission denied', 'permission denied']
    expect(changed).toEqual(pool === database.pool ? [['audit_log', denied]] : [])
  })

  test('a scope inserts no row of another tenant into any table', async () => {
    const outcomes = await forEachTable(async (table, owner) => {
      const { rows } = await database.pool.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${table} t where ${owner} = $1 limit 1`,
        [theirs.organization.id],
      )
      const insert = `insert into ${table} select * from jsonb_populate_record(null::${table}, ?::jsonb)`
      return await outcomeOf(insert, rows[0]?.row)
    })
    expect(outcomes).toEqual(await all('row-level security'))
  })

  test('a scope moves no row of its own to another tenant in any table', async () => {
    const outcomes = await forEachTable((table, owner) =>
      outcomeOf(`update ${table} set ${owner} = ?`, theirs.organization.id),
    )
    const expected = (await all('row-level security')).map(([table, reason]) =>
      table === 'audit_log' && pool === database.pool ? [table, 'permission denied'] : [table, reason],
    )
    expect(outcomes).toEqual(expected)
  })

  test('a transaction without a scope reads every row', async () => {
    const owners = await forEachTable(async (table, owner) => {
      const { rows } = await pool.query(`select count(distinct ${owner})::integer as owners from ${table}`)
      return rows[0].owners
    })
    expect(owners).toEqual(await all(2))
  })
})

describe.each(listTestServers())('partitions on $label', server => {
  test('can be read in a scope through their parent only', async () => {
    const database = await freshDatabase(server)
    try {
      const { environment } = await insertEverywhere(database)
      const inScope = (text: string) =>
        inTenantScope(database.db, [environment.org_id], scoped => sql.raw(text).execute(scoped))
      for (const [parent, partition] of [
        ['request_logs', 'request_logs_20261121'],
        ['usage_records', 'usage_records_202611'],
      ]) {
        expect((await inScope(`select id from ${parent}`)).rows).toHaveLength(1)
        await expect(inScope(`select id from ${partition}`)).rejects.toThrow('permission denied')
      }
    } finally {
      await database.drop()
    }
  })
})
