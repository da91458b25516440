import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { addKey, addTree, CREATED, newId, type Tree } from '../testing/harness/storage-rows.ts'
import { listKeys } from './keys/keys.ts'
import type { Page } from './page.ts'
import type { Db } from './pool.ts'
import type { KeyRow } from './schema.ts'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const at = (ms: number): Date => new Date(CREATED.getTime() + ms)
const positionOf = ({ created_at, id }: KeyRow): Page['after'] => ({ at: created_at, id })

describe.each(listTestServers())('pages on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
  })

  const insert = (...times: number[]): Promise<KeyRow[]> =>
    Promise.all(times.map(ms => addKey(db, tree.environment, { created_at: at(ms) })))
  const list = async (after: Page['after'], limit = 10): Promise<string[]> =>
    (await listKeys(db, tree.environment.id, { limit, after })).map(({ id }) => id)
  const remove = async (id: string): Promise<unknown> => db.deleteFrom('keys').where('id', '=', id).execute()

  /** Reads all pages; `between` runs after each. */
  const walk = async (limit: number, between: (page: number) => Promise<unknown>): Promise<string[]> => {
    const seen: string[] = []
    let after: Page['after']
    for (let page = 1; ; page++) {
      const rows = await listKeys(db, tree.environment.id, { limit, after })
      seen.push(...rows.map(({ id }) => id))
      const last = rows.at(-1)
      if (last === undefined) return seen
      after = positionOf(last)
      await between(page)
    }
  }

  test('order rows with the same time by id, and can be split between any two of them', async () => {
    const rows = await insert(0, 0, 0, 0, 0, 0)
    const expected = rows.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1))
    for (const limit of [1, 2, 4, 6, 7]) expect(await walk(limit, async () => {})).toEqual(expected)
  })

  test('with a limit of as many rows as there are are followed by an empty page', async () => {
    const [newest, oldest] = (await insert(1, 0)) as [KeyRow, KeyRow]
    expect(await list(undefined, 2)).toEqual([newest.id, oldest.id])
    expect(await list(positionOf(oldest), 2)).toEqual([])
  })

  test('are empty without rows, whatever the cursor', async () => {
    expect(await list(undefined)).toEqual([])
    expect(await list({ at: at(0), id: newId() })).toEqual([])
  })

  test('miss no row if the row of the cursor, one before it or one after it is removed between pages', async () => {
    const rows = await insert(5, 4, 3, 2, 1, 0)
    const ids = rows.map(({ id }) => id)
    const seen = await walk(2, async page => {
      if (page !== 1) return
      for (const index of [0, 1, 3]) await remove(ids[index] as string)
    })
    expect(seen).toEqual([ids[0], ids[1], ids[2], ids[4], ids[5]])
  })

  test('repeat no row and show no new one if rows are inserted between pages', async () => {
    const rows = await insert(3, 2, 1, 0)
    const seen = await walk(1, () => insert(10))
    expect(seen).toEqual(rows.map(({ id }) => id))
  })

  test('show a row that is inserted later if its time is before the cursor', async () => {
    const [newest] = (await insert(9, 1)) as [KeyRow, KeyRow]
    const [between] = (await insert(5)) as [KeyRow]
    expect(await list(positionOf(newest), 1)).toEqual([between.id])
  })

  test('begin right after a position that no row has', async () => {
    const [newest, middle, oldest] = (await insert(2, 1, 0)) as [KeyRow, KeyRow, KeyRow]
    expect(await list({ at: at(1), id: LAST_ID })).toEqual([middle.id, oldest.id])
    expect(await list({ at: at(1), id: FIRST_ID })).toEqual([oldest.id])
    expect(await list({ at: at(100), id: FIRST_ID })).toEqual([newest.id, middle.id, oldest.id])
    expect(await list({ at: at(-100), id: LAST_ID })).toEqual([])
  })

  test('do not depend on the time zone of the session', async () => {
    const [newest, oldest] = (await insert(1, 0)) as [KeyRow, KeyRow]
    const rows = await db.connection().execute(async connection => {
      await sql`set time zone 'Asia/Kathmandu'`.execute(connection)
      return await listKeys(connection, tree.environment.id, { limit: 10, after: positionOf(newest) })
    })
    expect(rows.map(({ id }) => id)).toEqual([oldest.id])
  })

  test('stay apart from those of another environment, even with a cursor of it', async () => {
    const [ours] = (await insert(5)) as [KeyRow]
    const other = await addTree(db)
    const theirs = await addKey(db, other.environment, { created_at: at(0) })
    const page = { limit: 10, after: positionOf(ours) }
    expect((await listKeys(db, other.environment.id, page)).map(({ id }) => id)).toEqual([theirs.id])
    expect(await list(positionOf(theirs))).toEqual([])
  })

  test.each(['', 'no-uuid', "' or true --", '00000000-0000-0000-0000-00000000000g'])(
    'are rejected by the database for a cursor with the id %j',
    async id => {
      await insert(0)
      await expect(list({ at: at(0), id })).rejects.toMatchObject({ code: '22P02' })
    },
  )
})
