import { sql } from 'kysely'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { openAsPlainUser } from '../testing/harness/plain-user.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { type Db, openDatabase } from './pool.ts'
import { extendTenantScope, inTenantScope } from './tenant-scope.ts'

const cases = listTestServers().flatMap(server =>
  (['as a user who may create roles', 'as an owner who may not create roles'] as const).map(user => ({
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
    pool = user === 'as an owner who may not create roles' ? await openAsPlainUser(database) : database.pool
    db = openDatabase(pool)
    ours = await seedEnvironment(pool)
    theirs = await seedEnvironment(pool)
  })
  afterEach(async () => {
    if (pool !== database.pool) await pool.end()
    await database.drop()
  })

  test('a statement without a filter reads only rows of the scope', async () => {
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

  test('update, delete and insert do not reach another organization', async () => {
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

  test('a scope without organizations reads no row', async () => {
    const rows = await inTenantScope(db, [], scoped =>
      scoped.selectFrom('organizations').selectAll().execute(),
    )
    expect(rows).toEqual([])
  })

  test('the scope ends with its transaction, whether that commits or fails', async () => {
    await inTenantScope(db, [ours.orgId], scoped => scoped.selectFrom('projects').select('id').execute())
    const failed = inTenantScope(db, [ours.orgId], async scoped => {
      await scoped.updateTable('projects').set({ name: 'undone' }).execute()
      throw new Error('changed its mind')
    })
    await expect(failed).rejects.toThrow('changed its mind')
    const sessions = await Promise.all([1, 2, 3, 4].map(() => sql`select name from projects`.execute(db)))
    for (const { rows } of sessions) expect(rows).toEqual([{ name: 'App' }, { name: 'App' }])
  })

  test('a nested transaction is rolled back alone', async () => {
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

  test('a new organization can be inserted once the scope is extended by it', async () => {
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
      await extendTenantScope(scoped, made)
      await create(scoped)
      return await scoped.selectFrom('organizations').select('id').orderBy('name').execute()
    })
    expect(seen).toEqual([{ id: ours.orgId }, { id: made }])
  })
})
