import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../testing/harness/database.ts'
import { openPool } from './pool.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.drop())

test.each(['while it waits', 'in the middle of a query'])(
  'a connection that breaks while it is lent, %s, fails who has it and nobody else',
  async when => {
    const pool = openPool(database.connection, () => {})
    try {
      const lent = await pool.connect()
      const { rows } = await lent.query<{ pid: number }>('select pg_backend_pid() as pid')
      // Not its error: a listener to that would hide that the pool has none.
      const broke = new Promise(resolve => lent.once('end', resolve))
      const asking = when === 'while it waits' ? 'nothing' : lent.query('select pg_sleep(60)')
      const asked = Promise.resolve(asking).catch(() => 'failed')
      await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await broke
      expect(await asked).toBe(when === 'while it waits' ? 'nothing' : 'failed')
      await expect(lent.query('select 1')).rejects.toThrow()
      lent.release(true)
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    } finally {
      await pool.end()
    }
  },
)
