import { sql } from 'kysely'
import { Client, type Pool, type QueryConfig } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { addOrganization } from '../testing/harness/storage-rows.ts'
import { toClientConfig } from './connection.ts'
import { openDatabase, openPool } from './pool.ts'
import { isUniqueViolation } from './unique-violation.ts'

/** Ends with its session, when the database is dropped. */
const ENDLESS = 'select pg_sleep(600)'
const GIVEN_UP = { text: ENDLESS, query_timeout: 50 } as QueryConfig

describe.each(listTestServers())('the pool on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  test('logs an idle connection that breaks, and replaces it', async () => {
    const lines: string[] = []
    const pool = openPool(database.connection, line => lines.push(line), { max: 1 })
    try {
      const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
      await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(1)
      expect(lines[0]).toMatch(/^database connection lost: /)
      const again = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
      expect(again.rows[0]?.pid).not.toBe(rows[0]?.pid)
    } finally {
      await pool.end()
    }
  })

  test('a query that takes longer than its timeout fails, and ends on the server too', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1, queryTimeoutMs: 200 })
    const countRunning = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and query = $1 and state = 'active'`,
        [ENDLESS],
      )
      return rows.length
    }
    try {
      await expect(pool.query(ENDLESS)).rejects.toThrow('timeout')
      await expect.poll(countRunning, { timeout: 30_000 }).toBe(0)
    } finally {
      await pool.end()
    }
  })

  test.each<[string, (pool: Pool) => Promise<unknown>]>([
    ['of the pool', pool => pool.query(GIVEN_UP)],
    [
      'of a client that is given back without its error',
      async pool => {
        const client = await pool.connect()
        await client.query(GIVEN_UP).finally(() => client.release())
      },
    ],
    [
      'of a query builder',
      async pool => {
        // The driver passes no timeout of its own.
        pool.options.query_timeout = 50
        return await sql.raw(ENDLESS).execute(openDatabase(pool))
      },
    ],
  ])(
    'a connection is not used again while a statement %s runs that the server does not end',
    async (_, run) => {
      const pool = openPool(database.connection, () => {}, { max: 1, queryTimeoutMs: 0 })
      try {
        await expect(run(pool)).rejects.toThrow('Query read timeout')
        pool.options.query_timeout = 0
        const started = 'select pg_backend_pid() as pid, now() - statement_timestamp() as waited'
        expect((await pool.query(started)).rows).toHaveLength(1)
        const { rows } = await database.pool.query<{ state: string }>(
          `select state from pg_stat_activity where datname = current_database() and query = $1`,
          [ENDLESS],
        )
        expect(rows).toEqual([{ state: 'active' }])
      } finally {
        await pool.end()
      }
    },
  )

  test('a session that does nothing ends within a minute, in a transaction and outside', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    try {
      const { rows } = await pool.query(
        `select current_setting('statement_timeout') as statement, current_setting('idle_session_timeout') as session,
          current_setting('idle_in_transaction_session_timeout') as transaction`,
      )
      expect(rows).toEqual([{ statement: '28500ms', session: '1min', transaction: '1min' }])
    } finally {
      await pool.end()
    }
  })

  test('reads int8 and sums of it as numbers, up to the largest safe integer', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    const read = async (text: string): Promise<unknown> =>
      (await pool.query(`select (${text})::int8 as value`)).rows[0].value
    try {
      expect(await read('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
      expect(await read('-9007199254740991')).toBe(Number.MIN_SAFE_INTEGER)
      expect(await read('null')).toBeNull()
      await expect(read('9007199254740992')).rejects.toThrow(
        'int8 9007199254740992 is not a safe integer: a number cannot hold it exactly',
      )
      expect(await read('1')).toBe(1)
    } finally {
      await pool.end()
    }
  })

  test('leaves the types of other users of pg as they are', async () => {
    const client = new Client(toClientConfig(database.connection))
    await client.connect()
    try {
      expect((await client.query('select 1::int8 as value')).rows).toEqual([{ value: '1' }])
    } finally {
      await client.end()
    }
  })

  test('tells a unique violation from other failures', async () => {
    const { id } = await addOrganization(database.db)
    const again = await addOrganization(database.db, { id }).catch(error => error)
    expect(isUniqueViolation(again, 'organizations_pkey')).toBe(true)
    const missing = await database.pool.query('select from no_such_table').catch(error => error)
    expect(isUniqueViolation(missing, 'organizations_pkey')).toBe(false)
    for (const other of [new Error('organizations_pkey'), undefined, { code: '23505' }]) {
      expect(isUniqueViolation(other, 'organizations_pkey')).toBe(false)
    }
  })

  test.each(['while it waits', 'in the middle of a query'])(
    'a connection that breaks while it is lent, %s, fails its borrower only',
    async when => {
      const pool = openPool(database.connection, () => {})
      try {
        const lent = await pool.connect()
        const { rows } = await lent.query<{ pid: number }>('select pg_backend_pid() as pid')
        // Not its 'error' event: a listener to that would hide that the pool has none.
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
})
