import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { MIGRATIONS } from './index.ts'

const STATEMENT =
  /^(?:create (?:unique )?index (?:if not exists )?(?<made>\w+) on (?<what>[^;]+);|drop index if exists (?<dropped>\w+);)/gm

/** What the last statement that makes each index says it is, without those that a later one drops. */
function listIndexes(): [name: string, what: string][] {
  const indexes = new Map<string, string>()
  for (const { sql } of MIGRATIONS) {
    for (const { groups } of sql.matchAll(STATEMENT)) {
      if (groups?.dropped !== undefined) indexes.delete(groups.dropped)
      if (groups?.made !== undefined && groups.what !== undefined) indexes.set(groups.made, groups.what)
    }
  }
  return [...indexes]
}

describe.each(listTestServers())('the indexes on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())

  test('are what the migrations say: none of them was left out because its name existed', async () => {
    const indexes = listIndexes()
    expect(indexes.length).toBeGreaterThan(50)
    const define = async (name: string): Promise<string | undefined> => {
      const text = 'select indexdef from pg_indexes where indexname = $1'
      const { rows } = await database.pool.query<{ indexdef: string }>(text, [name])
      return rows[0]?.indexdef.replace(/^CREATE (UNIQUE )?INDEX \w+/, '')
    }
    for (const [name, what] of indexes) {
      await database.pool.query(`create index index_as_written on ${what}`)
      expect([name, await define(name)]).toEqual([name, await define('index_as_written')])
      await database.pool.query('drop index index_as_written')
    }
  })
})
