import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPool } from '../storage/pool.ts'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'
import { type FreshDatabase, freshDatabase } from '../testing/harness/database.ts'
import { openDatabaseReadiness } from './parts/database-readiness.ts'

describe('GET /readyz', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await openTestApp()
  })
  afterAll(() => app.close())

  test('answers alike on both hosts', async () => {
    for (const host of [app.gatewayUrl, app.controlUrl]) {
      const response = await fetch(`${host}/readyz`)
      expect([response.status, await response.json()]).toEqual([200, { status: 'ready', reasons: [] }])
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('a process with the control plane alone', () => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase()
  })
  afterEach(() => database.drop())

  test('is ready while its database answers', async () => {
    const getReadiness = openDatabaseReadiness(database.pool)
    expect(await getReadiness()).toEqual({ ready: true, reasons: [] })
  })

  test('is not ready if its database is out of reach', async () => {
    const pool = openPool(database.connection, () => {})
    await pool.end()
    const getReadiness = openDatabaseReadiness(pool)
    expect(await getReadiness()).toEqual({ ready: false, reasons: ['the database does not answer'] })
  })

  test('is not ready if its database does not answer, and asks it once for callers at the same time', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    const client = await pool.connect()
    const getReadiness = openDatabaseReadiness(pool, 10)
    const [first, second] = await Promise.all([getReadiness(), getReadiness()])
    expect(first).toEqual({ ready: false, reasons: ['the database does not answer'] })
    expect(second).toBe(first)
    expect(pool.waitingCount).toBe(1)
    client.release()
    await pool.end()
  })
})
