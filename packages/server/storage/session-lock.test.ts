import type { QueryConfig } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { openPool } from './pool.ts'
import { withSessionLock } from './session-lock.ts'

describe.each(listTestServers())('a lock of a session on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  const isFree = async (): Promise<boolean> =>
    (await withSessionLock(database.pool, 'rideau.test', async () => true)) === true
  const pidOf = async (pool: FreshDatabase['pool']): Promise<unknown> =>
    (await pool.query('select pg_backend_pid() as pid')).rows[0].pid

  test('excludes others while the work runs, and not those with another name', async () => {
    const result = await withSessionLock(database.pool, 'rideau.test', async () => [
      await isFree(),
      await withSessionLock(database.pool, 'rideau.other', async () => 'ran'),
    ])
    expect(result).toEqual([false, 'ran'])
    expect(await isFree()).toBe(true)
  })

  test.each<[string, string, number | undefined]>([
    ['a statement fails', 'select from no_such_table', undefined],
    ['the client gives a statement up that the server does not end', 'select pg_sleep(1)', 50],
  ])('is free again where %s, and the connection is not lent again', async (_, text, timeoutMs) => {
    const pool = openPool(database.connection, () => {}, { max: 1, queryTimeoutMs: 0 })
    try {
      const before = await pidOf(pool)
      const failing = withSessionLock(pool, 'rideau.test', client =>
        client.query({ text, query_timeout: timeoutMs } as QueryConfig),
      )
      await expect(failing).rejects.toThrow()
      expect(await pidOf(pool)).not.toBe(before)
      await expect.poll(isFree, { timeout: 30_000 }).toBe(true)
    } finally {
      await pool.end()
    }
  })

  test('keeps the connection where the work succeeds or another process has the lock', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    try {
      const before = await pidOf(pool)
      expect(await withSessionLock(pool, 'rideau.test', async () => 1)).toBe(1)
      const blocked = await withSessionLock(database.pool, 'rideau.test', () =>
        withSessionLock(pool, 'rideau.test', async () => 2),
      )
      expect(blocked).toBeUndefined()
      expect(await pidOf(pool)).toBe(before)
    } finally {
      await pool.end()
    }
  })
})
