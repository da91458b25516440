import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '../storage/pool.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { untilLockWait } from '../testing/harness/lock-wait.ts'

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('locks')
})
afterAll(() => plane.close())

const call = (method: string, path: string, body?: object, ifMatch?: string) => {
  plane.clock.advance(1)
  return plane.call<{ id: string }>(method, path, {
    cookie: tenant.people.owner.cookie,
    ...(body === undefined ? {} : { body }),
    ...(ifMatch === undefined ? {} : { headers: { 'If-Match': ifMatch } }),
  })
}
const tagOf = async (path: string): Promise<string> => (await call('GET', path)).headers.get('etag') ?? ''
const lockRow = (tx: Db, table: string, id: string) =>
  sql`select from ${sql.table(table)} where id = ${id} for no key update`.execute(tx)

/** Makes the calls while the row is locked, each once the one before it waits. Returns their outcomes. */
async function callWhileLocked(
  table: string,
  id: string,
  calls: readonly (() => ReturnType<typeof call>)[],
): Promise<string[]> {
  const made: ReturnType<typeof call>[] = []
  await plane.database.db.transaction().execute(async tx => {
    await lockRow(tx, table, id)
    for (const make of calls) {
      made.push(make())
      await untilLockWait(plane.database.pool, made.length)
    }
  })
  return (await Promise.all(made)).map(({ outcome }) => outcome)
}

test('two plans that are made the default at once, one with If-Match, end one after the other', async () => {
  const path = `/v1/environments/${tenant.development.id}/plans`
  const [one, two] = [
    await call('POST', path, { name: 'one', is_default: true }),
    await call('POST', path, { name: 'two' }),
  ]
  const paths = [`/v1/plans/${one.json.id}`, `/v1/plans/${two.json.id}`] as const
  const tag = await tagOf(paths[0])
  const outcomes = await callWhileLocked('environments', tenant.development.id, [
    () => call('PATCH', paths[1], { is_default: true }),
    () => call('PATCH', paths[0], { is_default: true }, tag),
  ])
  expect(outcomes).toEqual(['200', '409 resource_conflict If-Match'])
})

test('a change of a role with If-Match and the removal of the same member end one after the other', async () => {
  const orgId = tenant.organization.id
  const path = `/v1/members/${await plane.insertMember(orgId, await plane.insertPerson(), 'viewer')}`
  const members = await plane.call<{ data: { id: string; updated_at: string }[] }>(
    'GET',
    `/v1/orgs/${orgId}/members`,
    { cookie: tenant.people.owner.cookie },
  )
  const tag = `"${members.json.data.find(({ id }) => path.endsWith(id))?.updated_at}"`
  const outcomes = await callWhileLocked('organizations', orgId, [
    () => call('DELETE', path),
    () => call('PATCH', path, { role: 'developer' }, tag),
  ])
  expect(outcomes).toEqual(['204', '409 resource_conflict If-Match'])
})

test('a call that PostgreSQL ends to resolve a deadlock is 409 resource_conflict and changes nothing', async () => {
  const orgId = tenant.organization.id
  const person = await plane.insertPerson()
  const id = await plane.insertMember(orgId, person, 'viewer')
  let changing: ReturnType<typeof call> | undefined
  await plane.database.db.transaction().execute(async tx => {
    // The call finds the deadlock first.
    await sql`set local deadlock_timeout = '1h'`.execute(tx)
    await lockRow(tx, 'members', id)
    changing = call('PATCH', `/v1/members/${id}`, { role: 'admin' })
    await untilLockWait(plane.database.pool)
    await lockRow(tx, 'organizations', orgId)
  })
  const { outcome, headers, json } = (await changing) as Awaited<ReturnType<typeof call>>
  expect(outcome).toBe('409 resource_conflict')
  expect(json).toMatchObject({ error: { message: expect.stringContaining('Repeat the call.') } })
  expect(headers.get('retry-after')).toBe('1')
  const { rows } = await plane.database.pool.query('select role from members where id = $1', [id])
  expect(rows).toEqual([{ role: 'viewer' }])
})
