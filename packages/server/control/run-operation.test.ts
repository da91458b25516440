import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashKeyText } from '../core/access/key-format.ts'
import type { Actor } from '../core/access/permissions.ts'
import { systemRandom } from '../core/random.ts'
import { findManagementKeyByHash } from '../storage/keys/management-keys.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import type { Caller } from './operation/caller.ts'
import { type Answer, defineOperation, type Operation, type Services } from './operation/operation.ts'
import { ScopeSlots } from './operation/scope-slots.ts'
import { z } from './operation/zod.ts'
import { runOperation } from './run-operation.ts'

let plane: ControlPlane
let ours: Tenant
let theirs: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  ours = await plane.insertTenant('ours')
  theirs = await plane.insertTenant('theirs')
  await plane.insertApiKey(ours)
  await plane.insertApiKey(theirs)
})
afterAll(() => plane.close())

async function run(operation: Operation): Promise<unknown> {
  const { db } = plane.database
  const key = await findManagementKeyByHash(db, hashKeyText(ours.keys.admin))
  const actor: Actor = {
    kind: 'management_key',
    id: key?.id ?? '',
    orgId: ours.organization.id,
    role: 'admin',
  }
  const { database, clock, newId, secretBox } = plane
  const scopeSlots = new ScopeSlots()
  const services = {
    ...{ wholeDb: database.db, db: database.db, clock, newId, secretBox, random: systemRandom, scopeSlots },
  }
  const admission = {
    actor,
    role: 'admin' as const,
    resource: ours.organization,
    orgId: ours.organization.id,
  }
  const input = {
    params: {},
    query: {},
    body: undefined,
    caller: { address: '127.0.0.1' } as Caller,
    answer: {} as Answer,
  }
  return await runOperation(services as unknown as Services, operation, admission, input, newId())
}

test("a handler without a tenant filter neither reads nor changes another tenant's rows", async () => {
  const operation = defineOperation('POST /v1/orgs/{orgId}/forget', {
    name: 'orgs.forget',
    summary: 'A handler without any filter.',
    access: { role: 'admin', of: 'org' },
    response: { 200: z.unknown() },
    handle: async ({ services: { db } }) => ({
      read: await db.selectFrom('keys').select('org_id').execute(),
      renamed: await db.updateTable('keys').set({ name: 'taken' }).returning('org_id').execute(),
      deleted: await db.deleteFrom('provider_credentials').returning('org_id').execute(),
    }),
  })
  const own = [{ org_id: ours.organization.id }]
  expect(await run(operation)).toEqual({ read: own, renamed: own, deleted: own })
  const { rows } = await plane.database.pool.query('select name from keys where org_id = $1', [
    theirs.organization.id,
  ])
  expect(rows).toEqual([{ name: 'inserted' }])
})

test('rolls back the writes of a failing handler and adds no audit entry', async () => {
  const operation = defineOperation('POST /v1/orgs/{orgId}/fail', {
    name: 'orgs.fail',
    summary: 'Writes and then fails.',
    access: { role: 'admin', of: 'org' },
    handle: async ({ services: { db } }) => {
      await db.updateTable('projects').set({ name: 'half' }).execute()
      throw new Error('no more')
    },
  })
  await expect(run(operation)).rejects.toThrow('no more')
  const { rows } = await plane.database.pool.query(
    `select (select count(*) from projects where name = 'half') as half,
      (select count(*) from audit_log where operation = 'orgs.fail') as entries`,
  )
  expect(rows).toEqual([{ half: 0, entries: 0 }])
})
