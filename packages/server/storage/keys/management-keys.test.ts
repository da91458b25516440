import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import {
  addManagementKey,
  addOrganization,
  CREATED,
  newId,
  sha256,
} from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import { removeOrganization } from '../tenancy/organizations.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import {
  findManagementKey,
  findManagementKeyByHash,
  revokeManagementKey,
  updateManagementKeyLastUsed,
} from './management-keys.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('management keys on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())

  test('are found by their hash, also revoked and expired ones', async () => {
    const key = await addManagementKey(db, await addOrganization(db), {
      revoked_at: CREATED,
      expires_at: CREATED,
    })
    expect(await findManagementKeyByHash(db, key.hash)).toEqual({ ...key, org_deleted_at: null })
    expect(await findManagementKeyByHash(db, sha256('unknown'))).toBeUndefined()
  })

  test('are found by their hash after their organization was deleted, with the time of its deletion', async () => {
    const organization = await addOrganization(db)
    const key = await addManagementKey(db, organization)
    await removeOrganization(db, organization.id, LATER)
    expect(await findManagementKeyByHash(db, key.hash)).toEqual({ ...key, org_deleted_at: LATER })
    expect(await findManagementKey(db, key.id)).toBeUndefined()
  })

  test('keep the time of their first revocation', async () => {
    const key = await addManagementKey(db, await addOrganization(db))
    const revoked = { ...key, revoked_at: LATER, updated_at: LATER }
    expect(await revokeManagementKey(db, key.id, LATER)).toEqual(revoked)
    expect(await revokeManagementKey(db, key.id, new Date(LATER.getTime() + 1))).toEqual(revoked)
    await expect(revokeManagementKey(db, newId(), LATER)).rejects.toThrow('no result')
  })

  test('store their last use', async () => {
    const key = await addManagementKey(db, await addOrganization(db))
    await updateManagementKeyLastUsed(db, key.id, LATER)
    expect(await findManagementKey(db, key.id)).toEqual({ ...key, last_used_at: LATER })
  })

  test('exist once in the whole database for one text', async () => {
    const { hash } = await addManagementKey(db, await addOrganization(db))
    const error = await addManagementKey(db, await addOrganization(db), { hash }).catch(failure => failure)
    expect(isUniqueViolation(error, 'management_keys_hash_key')).toBe(true)
  })

  test('cannot have the role owner', async () => {
    const insert = addManagementKey(db, await addOrganization(db), { role: 'owner' as 'admin' })
    await expect(insert).rejects.toMatchObject({ code: '23514' })
  })
})
