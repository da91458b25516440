import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toUrl } from '../packages/server/testing/harness/app.ts'
import { emptyDatabase, type FreshDatabase } from '../packages/server/testing/harness/database.ts'
import { type DatabaseProxy, openDatabaseProxy } from '../packages/server/testing/harness/database-proxy.ts'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

/** The database server goes away with all its connections and refuses new ones, as during a failover. Callers of the gateway go on. */

/** Longer than any wait of the program for its database. */
const OUTAGE_MS = 15_000
const REQUESTS = 40

let database: FreshDatabase
let proxy: DatabaseProxy
let home: ProgramHome
let program: Program
let keys: Keys

beforeAll(async () => {
  database = await emptyDatabase()
  proxy = await openDatabaseProxy(database.connection)
  home = await openProgramHome()
  program = await home.start({
    DATABASE_URL: toUrl(proxy.connection),
    RIDEAU_MASTER_KEY: randomBytes(32).toString('base64'),
  })
  keys = await setUp(program)
})

afterAll(async () => {
  await program?.stop()
  home?.remove()
  proxy?.close()
  await database?.drop()
})

async function chat(): Promise<number> {
  const response = await fetch(`${program.gatewayUrl}/v1/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.secretKey}` },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

test('requests are answered while the database is out of reach, and recorded once it is back', {
  timeout: 180_000,
}, async () => {
  // Enough that each worker has loaded the key.
  for (let at = 0; at < REQUESTS; at++) expect(await chat()).toBe(200)
  await proxy.refuse()
  for (let at = 0; at < REQUESTS; at++) {
    expect(await chat()).toBe(200)
    await new Promise(resolve => setTimeout(resolve, OUTAGE_MS / REQUESTS))
  }
  await proxy.listen()
  const countRecords = async (): Promise<number> => {
    const route = `/v1/environments/${keys.developmentId}/logs?limit=100`
    const headers = { authorization: `Bearer ${keys.managementKey}` }
    const response = await fetch(program.controlUrl + route, { headers })
    const logs = response.status === 200 ? ((await response.json()) as { data: object[] }).data : []
    return logs.length
  }
  await expect.poll(countRecords, { timeout: 60_000 }).toBe(2 * REQUESTS)
  expect(await chat()).toBe(200)
})
