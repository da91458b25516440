import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import {
  addManagementKey,
  addOrganization,
  addUser,
  CREATED,
  newId,
} from '../../testing/harness/storage-rows.ts'
import type { Page } from '../page.ts'
import type { Db } from '../pool.ts'
import type { OrganizationRow } from '../schema.ts'
import { inTenantScope } from '../tenant-scope.ts'
import { type AuditEntry, type AuditFilter, insertAuditEntry, listAuditLog } from './audit-log.ts'

const FIRST_PAGE: Page = { limit: 100, after: undefined }

describe.each(listTestServers())('the audit log on $label', server => {
  let database: FreshDatabase
  let db: Db
  let organization: OrganizationRow
  let now: number
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    organization = await addOrganization(db)
    now = CREATED.getTime()
  })

  const insert = (change: Partial<AuditEntry> = {}, on = db): Promise<void> =>
    insertAuditEntry(
      on,
      {
        orgIds: [organization.id],
        actor: { kind: 'anonymous', id: null },
        operation: 'keys.create',
        resource: { kind: 'keys', id: null },
        before: null,
        after: null,
        clientAddress: '127.0.0.1',
        requestId: newId(),
        ...change,
      },
      { clock: { now: () => now }, newId },
    )
  const list = (filter: AuditFilter = {}, page = FIRST_PAGE, orgId = organization.id) =>
    listAuditLog(db, orgId, filter, page)

  test('gives an entry to each of its organizations', async () => {
    const other = await addOrganization(db)
    const requestId = newId()
    await insert({ orgIds: [organization.id, other.id], requestId, before: { a: 1 }, after: { a: [null] } })
    const [ours, theirs] = [await list(), await list({}, FIRST_PAGE, other.id)]
    expect(ours).toMatchObject([
      { request_id: requestId, before: { a: 1 }, after: { a: [null] }, at: CREATED },
    ])
    expect(theirs).toMatchObject([{ request_id: requestId, org_id: other.id }])
    expect(ours[0]?.id).not.toBe(theirs[0]?.id)
  })

  test('keeps the name that an actor had, after it was renamed or removed', async () => {
    const user = await addUser(db)
    const key = await addManagementKey(db, organization, { name: 'deploy' })
    await insert({ actor: { kind: 'member', id: user.id } })
    await insert({ actor: { kind: 'management_key', id: key.id } })
    await insert({ actor: { kind: 'system', id: null } })
    await insert({ actor: { kind: 'member', id: newId() } })
    await db.updateTable('users').set({ email: 'new@example.com' }).where('id', '=', user.id).execute()
    await db.deleteFrom('management_keys').where('id', '=', key.id).execute()
    const names = (await list()).map(({ actor_kind, actor_name }) => `${actor_kind} ${actor_name}`)
    expect(names.sort()).toEqual(
      ['management_key deploy', `member ${user.email}`, 'member null', 'system null'].sort(),
    )
  })

  test('returns the entries that match every field of a filter', async () => {
    const actor = { kind: 'member', id: newId() } as const
    const resource = { kind: 'keys', id: newId() }
    await insert({ actor, resource, operation: 'keys.create' })
    now += 1000
    await insert({ actor, operation: 'keys.revoke' })
    now += 1000
    await insert({ resource, operation: 'keys.revoke' })
    const times = async (filter: AuditFilter): Promise<number[]> =>
      (await list(filter)).map(({ at }) => (at.getTime() - CREATED.getTime()) / 1000)
    expect(await times({})).toEqual([2, 1, 0])
    expect(await times({ actorId: actor.id })).toEqual([1, 0])
    expect(await times({ resourceId: resource.id })).toEqual([2, 0])
    expect(await times({ operation: 'keys.revoke' })).toEqual([2, 1])
    expect(await times({ operation: 'keys.revoke', actorId: actor.id })).toEqual([1])
    expect(await times({ from: new Date(CREATED.getTime() + 1000) })).toEqual([2, 1])
    expect(await times({ to: new Date(CREATED.getTime() + 1000) })).toEqual([0])
    expect(await times({ actorId: newId() })).toEqual([])
  })

  test('pages return each entry once, also with equal times', async () => {
    for (let n = 0; n < 5; n++) await insert()
    const first = await list({}, { limit: 3, after: undefined })
    const { at, id } = first.at(-1) as { at: Date; id: string }
    const second = await list({}, { limit: 3, after: { at, id } })
    expect(new Set([...first, ...second].map(entry => entry.id)).size).toBe(5)
    expect([first.length, second.length]).toEqual([3, 2])
  })

  test('can be read and extended in a tenant scope, but not changed', async () => {
    const inScope = <T>(work: (scoped: Db) => Promise<T>): Promise<T> =>
      inTenantScope(db, [organization.id], work)
    await inScope(scoped => insert({}, scoped))
    await expect(
      inScope(scoped => scoped.updateTable('audit_log').set({ operation: 'x' }).execute()),
    ).rejects.toThrow('permission denied')
    await expect(inScope(scoped => scoped.deleteFrom('audit_log').execute())).rejects.toThrow(
      'permission denied',
    )
    expect(await list()).toHaveLength(1)
  })

  test('is written with its change or not at all', async () => {
    const failed = db.transaction().execute(async tx => {
      await insert({}, tx)
      throw new Error('the change failed')
    })
    await expect(failed).rejects.toThrow('the change failed')
    expect(await list()).toEqual([])
  })
})
