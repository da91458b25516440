import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, openPool } from '../storage/pool.ts'
import { inTenantScope } from '../storage/tenant-scope.ts'
import {
  type ControlPlane,
  openControlPlane,
  type Person,
  type Tenant,
} from '../testing/harness/control-plane.ts'
import { untilLockWait } from '../testing/harness/lock-wait.ts'

/** Calls that the database answers late. */

let plane: ControlPlane
let slow: Tenant
let other: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  slow = await plane.insertTenant('slow')
  other = await plane.insertTenant('other')
})
afterAll(() => plane.close())

/** Makes 30 calls that all wait for locked tables, and checks that they use three connections and delay no other organization. */
async function expectFewConnections(
  tables: string,
  call: (index: number) => Promise<{ readonly outcome: string }>,
  outcome = '200',
): Promise<void> {
  const pool = openPool(plane.database.connection, () => {}, { max: 2 })
  const locker = await pool.connect()
  try {
    await locker.query('begin')
    await locker.query(`lock table ${tables} in access exclusive mode`)
    const calls = Array.from({ length: 30 }, (_, index) => call(index))
    let answered = 0
    for (const each of calls) void each.then(() => answered++)
    await untilLockWait(pool, 3)
    const own = `/v1/orgs/${other.organization.id}`
    const key = other.keys.viewer
    for (let count = 0; count < 20; count++)
      expect((await plane.call('GET', own, { key })).outcome).toBe('200')
    expect(answered).toBe(0)
    await untilLockWait(pool, 3)
    await locker.query('rollback')
    const outcomes = (await Promise.all(calls)).map(each => each.outcome)
    expect(new Set(outcomes)).toEqual(new Set([outcome]))
  } finally {
    locker.release(true)
    await pool.end()
  }
}

const keyOf = (index: number): string => (index % 2 === 0 ? slow.keys.viewer : slow.keys.developer)

test.each(['logs/histogram', 'errors', 'usage', 'logs'])(
  'a viewer whose calls to %s all wait for the database delays no other organization',
  async route => {
    const path = `/v1/environments/${slow.development.id}/${route}`
    await expectFewConnections('request_logs, usage_rollups', index =>
      plane.call('GET', path, { key: keyOf(index) }),
    )
  },
)

test('keys of an organization that all look for requests which do not exist delay no other organization', async () => {
  const look = (index: number) => plane.call('GET', `/v1/logs/${plane.newId()}`, { key: keyOf(index) })
  await expectFewConnections('request_logs', look, '404 resource_not_found')
})

test('a member of several organizations who looks for requests which do not exist delays no other organization', async () => {
  const person = await insertMemberOfTwo()
  const look = () => plane.call('GET', `/v1/logs/${plane.newId()}`, { cookie: person.cookie })
  await expectFewConnections('request_logs', look, '404 resource_not_found')
})

test.each(['one organization', 'several'])(
  'a member of %s whose dashboards all start delays no other organization',
  async organizations => {
    const person = organizations === 'several' ? await insertMemberOfTwo() : slow.people.viewer
    const start = () => plane.call('GET', '/v1/session/bootstrap', { cookie: person.cookie })
    await expectFewConnections('projects', start)
  },
)

async function insertMemberOfTwo(): Promise<Person> {
  const person = await plane.insertPerson()
  const second = await plane.insertTenant('second')
  for (const { organization } of [slow, second]) await plane.insertMember(organization.id, person, 'viewer')
  return person
}

test('the server ends a statement of an organization before the pool gives it up', async () => {
  const read = (scoped: Db) =>
    sql<{ timeout: string }>`select current_setting('statement_timeout') as timeout`.execute(scoped)
  const { rows } = await inTenantScope(plane.database.db, [slow.organization.id], read)
  expect(rows).toEqual([{ timeout: '28500ms' }])
})
