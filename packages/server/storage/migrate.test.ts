import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase, listTestServers } from '../testing/harness/database.ts'
import { migrateDatabase } from './migrate.ts'
import { listRecordedMigrations } from './migrations/adopt-pre-release.ts'
import { MIGRATIONS } from './migrations/index.ts'

const NAMES = MIGRATIONS.map(migration => migration.name)
const INITIAL = '0001-initial'

/** The migrations of development versions, as they recorded them. */
const PRE_RELEASE = [
  '0001-tenancy',
  '0002-usage',
  '0003-people',
  '0004-models',
  '0005-policies',
  '0006-observe',
  '0007-row-security',
  '0008-sealed',
  '0009-signing-keys',
  '0010-alerts',
  '0011-log-hold',
]

const open: FreshDatabase[] = []
afterEach(async () => {
  for (const database of open.splice(0)) await database.drop()
})

describe.each(listTestServers())('migrations on $label', server => {
  const empty = async (): Promise<FreshDatabase> => {
    const database = await emptyDatabase(server)
    open.push(database)
    return database
  }
  const migrate = (database: FreshDatabase, migrations = MIGRATIONS): Promise<string[]> =>
    migrateDatabase(database.connection, () => {}, migrations)

  /** A database with the initial schema whose records say that these migrations created it. */
  const recordedAs = async (names: readonly string[]): Promise<FreshDatabase> => {
    const database = await empty()
    await migrate(database)
    await sql`delete from kysely_migration`.execute(database.db)
    await sql`insert into kysely_migration (name, timestamp)
      select name, '2026-11-21T00:00:00.000Z' from unnest(${names}::text[]) as name`.execute(database.db)
    return database
  }

  test('run by three processes at once: one applies them, the others apply none', async () => {
    const { connection } = await empty()
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase(connection, () => {})))
    expect(applied.filter(each => each.length > 0)).toEqual([NAMES])
    expect(applied.filter(each => each.length === 0)).toHaveLength(2)
  })

  test('run again apply nothing', async () => {
    const database = await empty()
    expect(await migrate(database)).toEqual(NAMES)
    expect(await migrate(database)).toEqual([])
  })

  test('apply only what is new, in the order of their names', async () => {
    const database = await empty()
    const first = { name: '0001-a', sql: 'create table a (id int)' }
    expect(await migrate(database, [first])).toEqual(['0001-a'])
    const later = [
      { name: '0003-c', sql: 'alter table b add column c int' },
      { name: '0002-b', sql: 'alter table a rename to b' },
    ]
    expect(await migrate(database, [first, ...later])).toEqual(['0002-b', '0003-c'])
  })

  test('a migration that fails is named, and undoes itself and those before it', async () => {
    const { connection, db } = await empty()
    const broken = [
      { name: '0001-good', sql: 'create table good (id int)' },
      { name: '0002-broken', sql: 'create table half (id int); select no_such_function()' },
    ]
    await expect(migrateDatabase(connection, () => {}, broken)).rejects.toThrow(
      /^Migration 0002-broken failed: function no_such_function\(\) does not exist/,
    )
    const { rows } = await sql`select to_regclass('good') as good, to_regclass('half') as half`.execute(db)
    expect(rows).toEqual([{ good: null, half: null }])
  })

  test('a database of a newer version is rejected: the error names its migrations and says what to do', async () => {
    const { connection } = await empty()
    await migrateDatabase(connection, () => {}, [
      { name: '0001-a', sql: 'select 1' },
      { name: '0002-b', sql: 'select 1' },
    ])
    const older = migrateDatabase(connection, () => {}, [{ name: '0001-a', sql: 'select 1' }])
    await expect(older).rejects.toThrow('0002-b')
    await expect(older).rejects.toThrow(/newer version of Rideau.*restore a backup/)
  })

  test('a table of a later migration gets row-level security without being named', async () => {
    const database = await empty()
    const later = {
      name: '0002-later',
      sql: 'create table later (id uuid primary key, org_id uuid not null)',
    }
    await migrate(database, [...MIGRATIONS, later])
    const { rows } = await sql`select relrowsecurity from pg_class where relname = 'later'`.execute(
      database.db,
    )
    expect(rows).toEqual([{ relrowsecurity: true }])
  })

  test('a database with all pre-release migrations is adopted: its data stays, nothing is applied', async () => {
    const database = await recordedAs(PRE_RELEASE)
    await sql`insert into organizations (id, name, slug, created_at, updated_at)
      values (gen_random_uuid(), 'Acme', 'acme', now(), now())`.execute(database.db)
    expect(await migrate(database)).toEqual(NAMES.filter(name => name !== INITIAL))
    expect(await listRecordedMigrations(database.db)).toEqual(NAMES)
    const { rows } = await sql`select name from organizations`.execute(database.db)
    expect(rows).toEqual([{ name: 'Acme' }])
    expect(await migrate(database)).toEqual([])
  })

  test('three processes at once adopt a pre-release database once', async () => {
    const database = await recordedAs(PRE_RELEASE)
    const applied = await Promise.all([1, 2, 3].map(() => migrate(database)))
    expect(applied.flat()).toEqual(NAMES.filter(name => name !== INITIAL))
    expect(await listRecordedMigrations(database.db)).toEqual(NAMES)
  })

  test.each([1, 10])('a database with only %i pre-release migrations is rejected unchanged', async count => {
    const names = PRE_RELEASE.slice(0, count)
    const database = await recordedAs(names)
    await expect(migrate(database)).rejects.toThrow(
      new RegExp(`development version of Rideau \\(up to migration ${names.at(-1)}\\).*move the data folder`),
    )
    expect(await listRecordedMigrations(database.db)).toEqual(names)
  })
})
