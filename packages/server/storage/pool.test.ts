import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { addOrganization } from '../testing/harness/storage-rows.ts'
import { toClientConfig } from './connection.ts'
import { openPool } from './pool.ts'
import { isUniqueViolation } from './unique-violation.ts'

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

  test('ends a query that takes longer than its timeout', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1, queryTimeoutMs: 50 })
    try {
      await expect(pool.query('select pg_sleep(30)')).rejects.toThrow('timeout')
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
