import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyText, hashKeyText, maskKeyText } from '../core/access/key-format.ts'
import { hasRole, type Role } from '../core/access/permissions.ts'
import { systemRandom } from '../core/random.ts'
import { insertManagementKey } from '../storage/keys/management-keys.ts'
import { insertCustomModel } from '../storage/models/custom-models.ts'
import { insertModelAlias } from '../storage/models/model-aliases.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { insertRecords } from '../testing/harness/insert-records.ts'
import { INSERT_POLICY, putProjectAuth } from '../testing/harness/policies.ts'
import { requestRecord } from '../testing/harness/request-record.ts'
import { createManagementKeyRow } from './management-keys/new-management-key.ts'
import type { Operation } from './operation/operation.ts'
import { operations } from './operations.ts'

let plane: ControlPlane
let ours: Tenant
let theirs: Tenant
/** Credentials of the tenant that are valid at the gateway only: a secret key, a publishable key and a client token. */
let ofGateway: string[]
beforeAll(async () => {
  plane = await openControlPlane()
  ours = await plane.insertTenant('ours')
  theirs = await plane.insertTenant('theirs')
  const below = `/v1/environments/${ours.development.id}`
  const by = { key: ours.keys.admin }
  const create = (kind: string) =>
    plane.call<{ key: string }>('POST', `${below}/keys`, { ...by, body: { kind, name: kind } })
  const made = [(await create('secret')).json.key, (await create('publishable')).json.key]
  const { json } = await plane.call<{ token: string }>('POST', `${below}/playground-token`, by)
  ofGateway = [...made, json.token]
})
afterAll(() => plane.close())

const REACHED = /^(20\d$|400 invalid_request|409 resource_conflict)/

/**
 * Returns the operation's path, with ids of the tenant's resources; a resource that the path needs is created for the
 * call.
 */
async function pathOf(operation: Operation, tenant: Tenant): Promise<string> {
  const ids: Record<string, string> = {
    orgId: tenant.organization.id,
    projectId: tenant.project.id,
    envId: tenant.development.id,
  }
  if (operation.path.includes('/keys/{keyId}')) ids.keyId = (await plane.insertApiKey(tenant)).row.id
  if (operation.path.includes('/management-keys/{keyId}')) ids.keyId = await insertManagement(tenant)
  if (operation.path.includes('{memberId}')) {
    ids.memberId = await plane.insertMember(tenant.organization.id, await plane.insertPerson(), 'viewer')
  }
  if (operation.path.includes('{id}')) ids.id = await insertNamed(operation, tenant)
  if (operation.path.endsWith('-auth')) await putProjectAuth(plane.database.db, tenant.development)
  if (operation.path.includes('{requestId}')) {
    const record = requestRecord(tenant.development, plane.newId(), plane.clock.now())
    await insertRecords(plane.database.pool, [record])
    ids.requestId = record.request_id
  }
  return fill(operation, name => ids[name] as string)
}

async function insertNamed({ access }: Operation, tenant: Tenant): Promise<string> {
  const of = typeof access === 'string' ? '' : access.of
  const id = plane.newId()
  const { org_id, project_id, id: environment_id, created_at, updated_at } = tenant.development
  const below = { id, org_id, project_id, environment_id, created_at, updated_at }
  if (of === 'model_alias') {
    const alias = { alias: id, strategy: 'priority' as const, targets: '[]' }
    await insertModelAlias(plane.database.db, { ...below, ...alias })
    return id
  }
  if (of === 'custom_model') {
    const unknown = { context_window: null, max_output_tokens: null, pricing: null }
    await insertCustomModel(plane.database.db, {
      ...below,
      model: `custom/${id}`,
      capabilities: [],
      ...unknown,
    })
    return id
  }
  if (!isPolicy(of)) return await plane.insertCredential(tenant, 'sk-upstream')
  await INSERT_POLICY[of](plane.database.db, id, tenant.development)
  return id
}

function isPolicy(of: string): of is keyof typeof INSERT_POLICY {
  return Object.hasOwn(INSERT_POLICY, of)
}

async function insertManagement(tenant: Tenant): Promise<string> {
  const input = { orgId: tenant.organization.id, name: 'n', role: 'viewer' as const, expiresAt: null }
  const { row } = createManagementKeyRow({ ...plane, random: systemRandom }, input)
  await insertManagementKey(plane.database.db, row)
  return row.id
}

function fill(operation: Operation, valueOf: (name: string) => string): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
}

const guarded = operations.flatMap(operation =>
  typeof operation.access === 'string' ? [] : [{ name: operation.name, operation, access: operation.access }],
)

test('only routes that carry a secret of their own are public, and what the sign-in page offers', () => {
  const open = operations.filter(operation => operation.access === 'public').map(({ name }) => name)
  expect(open).toEqual([
    'setup.create',
    'session.create',
    'session.get_options',
    'session.reset_password',
    'invitations.accept',
    'invitations.lookup',
  ])
})

describe.each(operations.filter(({ access }) => access === 'session'))('$name', ({ method, path: route }) => {
  const path = route.replaceAll(/\{\w+\}/g, randomUUID())

  test('answers 401 without a session and 403 to a management key of any role', async () => {
    expect((await plane.call(method, path)).outcome).toBe('401 unauthenticated')
    for (const key of Object.values(ours.keys)) {
      expect((await plane.call(method, path, { key })).outcome).toBe('403 insufficient_role')
    }
  })

  test('admits every signed-in user, even without an organization', async () => {
    const { cookie } = await plane.insertPerson()
    expect((await plane.call(method, path, { cookie })).outcome).toMatch(/^(20\d$|400 invalid_request)/)
  })
})

describe.each(guarded)('$name', ({ operation, access }) => {
  const { method } = operation

  test('answers 401 without a credential, before any other check', async () => {
    const { outcome, headers } = await plane.call(
      method,
      fill(operation, () => 'no-uuid'),
    )
    expect(outcome).toBe('401 unauthenticated')
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  test('answers 401 invalid_key to a secret key, a publishable key and a client token of its own environment', async () => {
    const path = await pathOf(operation, ours)
    for (const key of ofGateway)
      expect((await plane.call(method, path, { key })).outcome).toBe('401 invalid_key')
  })

  test('admits exactly its own role and the roles above it', async () => {
    for (const role of ['viewer', 'developer', 'admin', 'owner'] satisfies Role[]) {
      // A deletion needs a tenant of its own, because the other tests use `ours`.
      const tenant = method === 'DELETE' ? await plane.insertTenant('ours too') : ours
      const { cookie } = tenant.people[role]
      const credentials = role === 'owner' ? [{ cookie }] : [{ key: tenant.keys[role] }, { cookie }]
      for (const by of method === 'DELETE' ? credentials.slice(0, 1) : credentials) {
        const { outcome } = await plane.call(method, await pathOf(operation, tenant), by)
        // The calls have no body, so an admitted role reaches the validation of the body or of the resource's state (a
        // secret key cannot be revealed, an alias without targets cannot be tried).
        if (hasRole(role, access.role)) expect(outcome).toMatch(REACHED)
        else expect(outcome).toBe('403 insufficient_role')
      }
    }
  })

  if (access.of === 'actor') return

  test("answers 404 for another tenant's resource, even to that tenant's owner", async () => {
    const { outcome } = await plane.call(method, await pathOf(operation, theirs), { key: ours.keys.admin })
    expect(outcome).toBe('404 resource_not_found')
  })

  test('answers 404 for an unknown id', async () => {
    const path = fill(operation, () => '00000000-0000-0000-0000-000000000000')
    expect((await plane.call(method, path, { key: ours.keys.admin })).outcome).toBe('404 resource_not_found')
  })

  test("answers 400 with the parameter's name for an id that is not a UUID", async () => {
    const path = fill(operation, () => `${'x'.repeat(2000)}`)
    const { outcome } = await plane.call(method, path, { key: ours.keys.admin })
    expect(outcome).toBe(`400 request_validation_failed ${operation.paramNames[0]}`)
  })

  test('answers 404 below a deleted project or organization', async () => {
    const doomed = await plane.insertTenant('doomed')
    const path = await pathOf(operation, doomed)
    const deleted_at = new Date(plane.clock.now())
    if (!['org', 'member', 'management_key', 'webhook'].includes(access.of)) {
      await plane.database.db
        .updateTable('projects')
        .set({ deleted_at })
        .where('id', '=', doomed.project.id)
        .execute()
      expect((await plane.call(method, path, { key: doomed.keys.admin })).outcome).toBe(
        '404 resource_not_found',
      )
    }
    await plane.database.db
      .updateTable('organizations')
      .set({ deleted_at })
      .where('id', '=', doomed.organization.id)
      .execute()
    expect((await plane.call(method, path, { key: doomed.keys.admin })).outcome).toBe('401 key_revoked')
  })
})

describe('the credential', () => {
  const random = systemRandom
  const known = () => ours.keys.viewer
  test.each([
    ['no header', undefined, '401 unauthenticated'],
    ['another scheme', 'Basic YTpi', '401 unauthenticated'],
    ['an empty Bearer', 'Bearer ', '401 unauthenticated'],
    [
      'a secret key',
      `Bearer ${createKeyText({ kind: 'secret', environment: 'development' }, random)}`,
      '401 invalid_key',
    ],
    [
      'a publishable key',
      `Bearer ${createKeyText({ kind: 'publishable', environment: 'production' }, random)}`,
      '401 invalid_key',
    ],
    [
      'an unknown management key',
      `Bearer ${createKeyText({ kind: 'management' }, random)}`,
      '401 invalid_key',
    ],
    ['a mistyped management key', `Bearer rd_mk_${'A'.repeat(30)}`, '401 invalid_key'],
    ['a client token', 'Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2ln', '401 invalid_key'],
    ['the setup token', 'Bearer the-set-up-token-of-the-tests', '401 invalid_key'],
  ])('%s', async (_, authorization, outcome) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await plane.call('GET', '/v1/orgs', { headers })
    expect(answer.outcome).toBe(outcome)
    expect(answer.text).not.toContain(authorization?.slice(7) || '\0')
  })

  test('accepts the scheme in any letter case', async () => {
    const answer = await plane.call('GET', '/v1/orgs', { headers: { authorization: `bEARER ${known()}` } })
    expect(answer.outcome).toBe('200')
  })

  async function insert(change: { expires_at?: Date; revoked_at?: Date }): Promise<string> {
    const input = { orgId: ours.organization.id, name: 'n', role: 'viewer' as const, expiresAt: null }
    const { row, text } = createManagementKeyRow({ ...plane, random }, input)
    await insertManagementKey(plane.database.db, { ...row, ...change })
    return text
  }

  test('rejects a revoked management key with 401 key_revoked', async () => {
    const key = await insert({ revoked_at: new Date(plane.clock.now()) })
    expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('401 key_revoked')
  })

  test('rejects a management key with 401 key_expired from its expiry time on', async () => {
    const key = await insert({ expires_at: new Date(plane.clock.now() + 1000) })
    plane.clock.advance(999)
    expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('200')
    plane.clock.advance(1)
    expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('401 key_expired')
  })

  test('updates last_used_at at most once a minute', async () => {
    const key = await insert({})
    const used = async (): Promise<number | undefined> => {
      await plane.call('GET', '/v1/orgs', { key })
      const { db } = plane.database
      const query = db
        .selectFrom('management_keys')
        .select('last_used_at')
        .where('hash', '=', hashKeyText(key))
      return (await query.executeTakeFirstOrThrow()).last_used_at?.getTime()
    }
    const first = plane.clock.now()
    expect(await used()).toBe(first)
    plane.clock.advance(59_999)
    expect(await used()).toBe(first)
    plane.clock.advance(1)
    expect(await used()).toBe(first + 60_000)
  })

  test('shows four characters of the key in its masked form', () => {
    expect(maskKeyText(known())).toMatch(/^rd_mk_….{4}$/)
  })
})
