import { sql } from 'kysely'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { type Db, openDatabase, openPool } from './pool.ts'
import { inTenantScope, widenTenantScope } from './tenant-scope.ts'

/** A user of the tests' servers who owns a database's tables and may make no role: a hosted database's common case. */
const PLAIN_USER = 'rideau_test_plain'

/** The tables of the database as the plain user's own, and a pool of its sessions. */
async function giveToPlainUser(database: FreshDatabase): Promise<Pool> {
  await database.pool.query(`do $$ begin
    if not exists (select from pg_roles where rolname = '${PLAIN_USER}') then
      create role ${PLAIN_USER} nologin;
    end if;
  exception when duplicate_object or unique_violation then null;
  end $$`)
  await database.pool.query(`grant all on schema public to ${PLAIN_USER}`)
  const { rows } = await database.pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  )
  for (const { name } of rows) await database.pool.query(`alter table ${name} owner to ${PLAIN_USER}`)
  const pool = openPool(database.connection, () => {}, { max: 4 })
  pool.options.onConnect = async client =>
    void (await client.query(`set session authorization ${PLAIN_USER}`))
  await pool.query('select rideau_protect()')
  return pool
}

const cases = listTestServers().flatMap(server =>
  (['as a user who may make the role', 'as a plain owner of the tables'] as const).map(user => ({
    server,
    user,
    label: `${server.label}, ${user}`,
  })),
)

describe.each(cases)('row-level security on $label', ({ server, user }) => {
  let database: FreshDatabase
  let pool: Pool
  let db: Db
  let ours: SeededEnvironment
  let theirs: SeededEnvironment
  beforeEach(async () => {
    database = await freshDatabase(server)
    pool = user === 'as a plain owner of the tables' ? await giveToPlainUser(database) : database.pool
    db = openDatabase(pool)
    ours = await seedEnvironment(pool)
    theirs = await seedEnvironment(pool)
  })
  afterEach(async () => {
    if (pool !== database.pool) await pool.end()
    await database.drop()
  })

  test('a statement without a filter reads the rows of its own organization only', async () => {
    const read = await inTenantScope(db, [ours.orgId], async scoped => ({
      organizations: await scoped.selectFrom('organizations').select('id').execute(),
      projects: await scoped.selectFrom('projects').select('id').execute(),
      environments: await scoped.selectFrom('environments').select('id').execute(),
    }))
    expect(read).toEqual({
      organizations: [{ id: ours.orgId }],
      projects: [{ id: ours.projectId }],
      environments: [{ id: ours.environmentId }],
    })
  })

  test('neither update nor delete nor insert reaches another organization', async () => {
    const now = new Date()
    const changed = await inTenantScope(db, [ours.orgId], async scoped => [
      await scoped.updateTable('projects').set({ name: 'taken' }).executeTakeFirst(),
      await scoped.deleteFrom('environments').where('org_id', '=', theirs.orgId).executeTakeFirst(),
    ])
    expect(changed).toMatchObject([{ numUpdatedRows: 1n }, { numDeletedRows: 0n }])
    const insert = inTenantScope(db, [ours.orgId], scoped =>
      scoped
        .insertInto('projects')
        .values({
          id: ours.environmentId,
          org_id: theirs.orgId,
          name: 'n',
          slug: 'planted',
          allowed_origins: [],
          created_at: now,
          updated_at: now,
          deleted_at: null,
        })
        .execute(),
    )
    await expect(insert).rejects.toThrow('row-level security')
    const move = inTenantScope(db, [ours.orgId], scoped =>
      scoped.updateTable('projects').set({ org_id: theirs.orgId, slug: 'moved' }).execute(),
    )
    await expect(move).rejects.toThrow('row-level security')
    expect(await db.selectFrom('projects').select(['id', 'name']).orderBy('name').execute()).toEqual([
      { id: theirs.projectId, name: 'App' },
      { id: ours.projectId, name: 'taken' },
    ])
  })

  test('a scope of no organization sees nothing', async () => {
    const rows = await inTenantScope(db, [], scoped =>
      scoped.selectFrom('organizations').selectAll().execute(),
    )
    expect(rows).toEqual([])
  })

  test('the scope ends with its transaction, also where that fails', async () => {
    await inTenantScope(db, [ours.orgId], scoped => scoped.selectFrom('projects').select('id').execute())
    const failed = inTenantScope(db, [ours.orgId], async scoped => {
      await scoped.updateTable('projects').set({ name: 'undone' }).execute()
      throw new Error('changed its mind')
    })
    await expect(failed).rejects.toThrow('changed its mind')
    const sessions = await Promise.all([1, 2, 3, 4].map(() => sql`select name from projects`.execute(db)))
    for (const { rows } of sessions) expect(rows).toEqual([{ name: 'App' }, { name: 'App' }])
  })

  test('a transaction within is undone alone', async () => {
    await inTenantScope(db, [ours.orgId], async scoped => {
      await scoped.updateTable('projects').set({ name: 'outer' }).execute()
      const inner = scoped.transaction().execute(async tx => {
        await tx.updateTable('projects').set({ slug: 'inner' }).execute()
        await sql`select 1 / 0`.execute(tx)
      })
      await expect(inner).rejects.toThrow('division by zero')
      await scoped
        .transaction()
        .execute(tx => tx.updateTable('environments').set({ log_retention_days: 7 }).execute())
    })
    const query = db
      .selectFrom('projects')
      .innerJoin('environments', 'environments.project_id', 'projects.id')
    expect(
      await query
        .select(['projects.name', 'projects.slug', 'log_retention_days'])
        .where('projects.id', '=', ours.projectId)
        .execute(),
    ).toEqual([{ name: 'outer', slug: 'app', log_retention_days: 7 }])
  })

  test('an organization that the transaction makes is let in by name', async () => {
    const made = theirs.environmentId
    const create = (scoped: Db) =>
      scoped
        .insertInto('organizations')
        .values({
          id: made,
          name: 'New',
          slug: 'new',
          time_zone: 'UTC',
          created_at: new Date(),
          updated_at: new Date(),
          deleted_at: null,
        })
        .execute()
    await expect(inTenantScope(db, [ours.orgId], create)).rejects.toThrow('row-level security')
    const seen = await inTenantScope(db, [ours.orgId], async scoped => {
      await widenTenantScope(scoped, made)
      await create(scoped)
      return await scoped.selectFrom('organizations').select('id').orderBy('name').execute()
    })
    expect(seen).toEqual([{ id: ours.orgId }, { id: made }])
  })
})

/** Tables that belong to no one organization. Everything else needs an `org_id`, which puts it behind the wall. */
const SHARED_TABLES = new Set([
  'users',
  'sessions',
  'password_resets',
  'identities',
  'retired_master_keys',
  'signing_keys',
])

describe.each(listTestServers())('the schema on $label', server => {
  test('every table of a tenant stands behind row-level security', async () => {
    const database = await freshDatabase(server)
    try {
      const { rows } = await database.pool.query<{ name: string; is_protected: boolean }>(
        `select c.relname as name,
            c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid) as is_protected
          from pg_class c
          where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
            and c.relname !~ '^kysely_'`,
      )
      const open = rows.filter(row => !row.is_protected).map(row => row.name)
      expect(open.filter(name => !SHARED_TABLES.has(name))).toEqual([])
      expect(rows.length).toBeGreaterThan(8)
    } finally {
      await database.drop()
    }
  })

  test('a partition is reached through its table only', async () => {
    const database = await freshDatabase(server)
    try {
      await database.pool.query(
        `select make_partition('request_logs', 'request_logs_20261121', '2026-11-21', '2026-11-22')`,
      )
      const read = inTenantScope(database.db, [], scoped =>
        sql`select * from request_logs_20261121`.execute(scoped),
      )
      await expect(read).rejects.toThrow('permission denied')
    } finally {
      await database.drop()
    }
  })
})
