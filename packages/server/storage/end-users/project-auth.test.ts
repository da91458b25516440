import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { addTree, CREATED, stamps, type Tree } from '../../testing/harness/storage-rows.ts'
import type { DeviceAuthRow } from '../policy-tables.ts'
import type { Db } from '../pool.ts'
import { findDeviceAuth, removeDeviceAuth, upsertDeviceAuth } from './device-auth.ts'
import { findFederatedAuth, removeFederatedAuth, upsertFederatedAuth } from './federated-auth.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('how end users prove who they are, on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
  })

  const toDeviceAuth = (change: Partial<DeviceAuthRow> = {}): DeviceAuthRow => ({
    project_id: tree.project.id,
    org_id: tree.organization.id,
    ios_team_id: 'ABCDE12345',
    ios_bundle_ids: ['com.example.app'],
    ios_environment: 'production',
    device_check_key_id: null,
    device_check_cipher: null,
    android_package_names: null,
    android_signing_digests: null,
    ...stamps,
    ...change,
  })
  const toFederatedAuth = () => ({
    project_id: tree.project.id,
    org_id: tree.organization.id,
    issuers: ['https://issuer.example'],
    audiences: ['app'],
    authorized_parties: [],
    jwks_url: null,
    algorithms: ['RS256'],
    user_id_claim: 'sub',
    plan_claim: null,
    required_claims: '{"verified":[true]}',
    clock_tolerance_seconds: 30,
    max_token_age_seconds: 3600,
    ...stamps,
  })

  describe('device authentication', () => {
    test('is replaced as a whole, except for its creation time', async () => {
      expect(await findDeviceAuth(db, tree.project.id)).toBeUndefined()
      expect(await upsertDeviceAuth(db, toDeviceAuth())).toEqual(toDeviceAuth())
      const android = toDeviceAuth({
        ios_team_id: null,
        ios_bundle_ids: null,
        ios_environment: null,
        android_package_names: ['com.example'],
        created_at: LATER,
        updated_at: LATER,
      })
      expect(await upsertDeviceAuth(db, android)).toEqual({ ...android, created_at: CREATED })
      expect(await findDeviceAuth(db, tree.project.id)).toEqual({ ...android, created_at: CREATED })
    })

    test('returns what was removed, and undefined the second time', async () => {
      await upsertDeviceAuth(db, toDeviceAuth())
      expect(await removeDeviceAuth(db, tree.project.id)).toEqual(toDeviceAuth())
      expect(await removeDeviceAuth(db, tree.project.id)).toBeUndefined()
    })

    test.each<[string, Partial<DeviceAuthRow>]>([
      ['no platform', { ios_team_id: null }],
      ['a DeviceCheck key id without the key', { device_check_key_id: 'k' }],
      ['a DeviceCheck key without its id', { device_check_cipher: Buffer.of(1) }],
      ['an unknown environment', { ios_environment: 'staging' as 'production' }],
    ])('is rejected by the database with %s', async (_, change) => {
      await expect(upsertDeviceAuth(db, toDeviceAuth(change))).rejects.toMatchObject({ code: '23514' })
    })
  })

  describe('federated authentication', () => {
    test('is replaced as a whole, except for its creation time', async () => {
      expect(await findFederatedAuth(db, tree.project.id)).toBeUndefined()
      const stored = { ...toFederatedAuth(), required_claims: { verified: [true] } }
      expect(await upsertFederatedAuth(db, toFederatedAuth())).toEqual(stored)
      const change = { plan_claim: 'plan', created_at: LATER, updated_at: LATER }
      await upsertFederatedAuth(db, { ...toFederatedAuth(), ...change })
      expect(await findFederatedAuth(db, tree.project.id)).toEqual({
        ...stored,
        ...change,
        created_at: CREATED,
      })
    })

    test('returns what was removed, and undefined the second time', async () => {
      await upsertFederatedAuth(db, toFederatedAuth())
      expect(await removeFederatedAuth(db, tree.project.id)).toMatchObject({ audiences: ['app'] })
      expect(await removeFederatedAuth(db, tree.project.id)).toBeUndefined()
    })
  })
})
