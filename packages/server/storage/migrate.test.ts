import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase, listTestServers } from '../testing/harness/database.ts'
import { migrateDatabase } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'

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

  test('of three at once one applies and the others wait and find nothing to do', async () => {
    const { connection } = await empty()
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase(connection, () => {})))
    const names = MIGRATIONS.map(migration => migration.name)
    expect(applied.filter(each => each.length > 0)).toEqual([names])
    expect(applied.filter(each => each.length === 0)).toHaveLength(2)
  })

  test('a failing one is named, and leaves nothing behind of itself and of those before it', async () => {
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

  test('a database that is newer than the program is refused', async () => {
    const { connection } = await empty()
    await migrateDatabase(connection, () => {}, [
      { name: '0001-a', sql: 'select 1' },
      { name: '0002-b', sql: 'select 1' },
    ])
    const older = migrateDatabase(connection, () => {}, [{ name: '0001-a', sql: 'select 1' }])
    await expect(older).rejects.toThrow('0002-b')
  })
})
