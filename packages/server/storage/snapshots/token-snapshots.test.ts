import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import type { Role } from '../../core/access/permissions.ts'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { INSERT_POLICY } from '../../testing/harness/policies.ts'
import {
  addEndUser,
  addKey,
  addManagementKey,
  addMember,
  addTree,
  addUser,
  CREATED,
  newId,
  type Tree,
} from '../../testing/harness/storage-rows.ts'
import { findPlan } from '../policies/plans.ts'
import type { Db } from '../pool.ts'
import { findTokenMinter, listEndUserSnapshots } from './token-snapshots.ts'

const UNRESTRICTED = {
  scopes: SCOPES,
  allowedModels: null,
  allowedEndpoints: null,
  maxRequestCostNanoUsd: null,
}

describe.each(listTestServers())('client tokens on $label', server => {
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

  const find = (change: Partial<ClientTokenClaims>) =>
    findTokenMinter(database.pool, {
      iss: 'https://rideau.example',
      aud: 'rideau',
      sub: 'alice',
      org: tree.organization.id,
      prj: tree.project.id,
      env: tree.environment.id,
      scope: 'ai.chat',
      plan: null,
      amr: 'secret_key',
      pk: null,
      ver: 1,
      iat: 0,
      nbf: 0,
      exp: 1,
      jti: newId(),
      ...change,
    })

  describe('of a key', () => {
    test('have the rights and the life of the key', async () => {
      const key = await addKey(db, tree.environment, {
        scopes: ['ai.chat', 'ai.embed'],
        allowed_models: ['openai/*'],
        allowed_endpoints: ['chat'],
        max_request_cost_nano_usd: 7,
        expires_at: CREATED,
      })
      expect(await find({ pk: key.id })).toEqual({
        originalKeyId: key.id,
        rights: {
          scopes: ['ai.chat', 'ai.embed'],
          allowedModels: ['openai/*'],
          allowedEndpoints: ['chat'],
          maxRequestCostNanoUsd: 7,
        },
        expiresAt: CREATED.getTime(),
        revokedAt: null,
      })
    })

    test('have the time of the revocation if their key is revoked', async () => {
      const key = await addKey(db, tree.environment, { revoked_at: CREATED })
      expect(await find({ pk: key.id })).toMatchObject({ revokedAt: CREATED.getTime() })
    })

    test('have no minter if the key is unknown or of another environment', async () => {
      const other = await addTree(db)
      const key = await addKey(db, other.environment)
      expect(await find({ pk: key.id })).toBeUndefined()
      expect(await find({ pk: newId() })).toBeUndefined()
    })
  })

  describe('of the playground', () => {
    test.each<[Role, boolean]>([
      ['owner', true],
      ['admin', true],
      ['developer', true],
      ['viewer', false],
    ])('are allowed to a member with the role %s: %s', async (role, isAllowed) => {
      const { id } = await addMember(db, tree.organization, { user_id: (await addUser(db)).id, role })
      const minter = isAllowed
        ? { originalKeyId: null, rights: UNRESTRICTED, expiresAt: null, revokedAt: null }
        : undefined
      expect(await find({ sub: `member:${id}`, amr: 'member' })).toEqual(minter)
    })

    test.each<['admin' | 'developer' | 'viewer', boolean]>([
      ['admin', true],
      ['developer', true],
      ['viewer', false],
    ])('are allowed to a management key with the role %s: %s', async (role, isAllowed) => {
      const { id } = await addManagementKey(db, tree.organization, { role, expires_at: CREATED })
      const life = { expiresAt: CREATED.getTime(), revokedAt: null }
      const minter = isAllowed ? { originalKeyId: null, rights: UNRESTRICTED, ...life } : undefined
      expect(await find({ sub: `member:${id}`, amr: 'member' })).toEqual(minter)
    })

    test('have no minter for an invitation, a member of another organization, or a subject of another form', async () => {
      const invitation = await addMember(db, tree.organization)
      const other = await addTree(db)
      const stranger = await addMember(db, other.organization, { user_id: (await addUser(db)).id })
      const subjects = [
        `member:${invitation.id}`,
        `member:${stranger.id}`,
        `member:${newId()}`,
        'member:',
        'member:no-uuid',
        stranger.id,
        `device:${stranger.id}`,
      ]
      const minters = await Promise.all(subjects.map(sub => find({ sub, amr: 'member' })))
      expect(minters).toEqual(subjects.map(() => undefined))
    })
  })

  describe('an end user', () => {
    const getEndUserSnapshot = async (environmentId: string) =>
      (await listEndUserSnapshots(database.pool, [{ environmentId, id: 'alice' }]))[0]

    test('is found among others that one statement asks for, in their order', async () => {
      await addEndUser(db, tree.environment, 'bob', { blocked_at: CREATED })
      const environmentId = tree.environment.id
      const asked = ['alice', 'bob', 'carol', 'bob'].map(id => ({ environmentId, id }))
      const found = await listEndUserSnapshots(database.pool, asked)
      expect(found.map(({ id, isBlocked }) => [id, isBlocked])).toEqual([
        ['alice', false],
        ['bob', true],
        ['carol', false],
        ['bob', true],
      ])
    })

    test('without a row has no plan and is not blocked', async () => {
      const expected = { id: 'alice', plan: null, isBlocked: false }
      expect(await getEndUserSnapshot(tree.environment.id)).toEqual(expected)
    })

    test('has its plan and its block, in its own environment only', async () => {
      const planId = newId()
      await INSERT_POLICY.plan(db, planId, tree.environment)
      const plan = (await findPlan(db, planId))?.name as string
      await addEndUser(db, tree.environment, 'alice', { plan_id: planId, blocked_at: CREATED })
      expect(await getEndUserSnapshot(tree.environment.id)).toEqual({ id: 'alice', plan, isBlocked: true })
      const other = await addTree(db)
      expect(await getEndUserSnapshot(other.environment.id)).toEqual({
        id: 'alice',
        plan: null,
        isBlocked: false,
      })
    })
  })
})
