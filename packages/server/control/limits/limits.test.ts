import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { INSERT_POLICY } from '../../testing/harness/policies.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
import type { LimitResource } from './limit-resource.ts'

type Limit = z.output<typeof LimitResource>

let plane: ControlPlane
let tenant: Tenant
let stranger: Tenant
let keyId: string
let foreignKeyId: string
let inEnvironment: string
let inOrganization: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  stranger = await plane.insertTenant('stranger')
  keyId = (await plane.insertApiKey(tenant)).row.id
  foreignKeyId = (await plane.insertApiKey(stranger)).row.id
  inEnvironment = `/v1/environments/${tenant.development.id}/limits`
  inOrganization = `/v1/orgs/${tenant.organization.id}/limits`
})
afterAll(() => plane.close())

const create = (path: string, body: object, key = tenant.keys.admin) =>
  plane.call<Limit>('POST', path, { key, body })
const perMinute = { metric: 'requests', limit: 60, window_seconds: 60 }

test('a limit is created, listed, changed in part and removed', async () => {
  const key = tenant.keys.developer
  const made = await create(inEnvironment, { scope: 'environment', ...perMinute }, key)
  const now = new Date(plane.clock.now()).toISOString()
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.any(String),
    org_id: tenant.organization.id,
    project_id: tenant.project.id,
    environment_id: tenant.development.id,
    scope: 'environment',
    scope_ref: null,
    metric: 'requests',
    limit: 60,
    window_seconds: 60,
    // This control plane runs without a gateway, so it cannot read counters.
    used: null,
    reserved: null,
    created_at: now,
    updated_at: now,
  })
  const page = await plane.call<List<Limit>>('GET', inEnvironment, { key: tenant.keys.viewer })
  expect(page.json).toEqual({ data: [made.json], has_more: false, next_cursor: null })
  plane.clock.advance(1000)
  const one = `/v1/limits/${made.json.id}`
  const changed = await plane.call('PATCH', one, { key, body: { limit: 5 } })
  const later = new Date(plane.clock.now()).toISOString()
  expect(changed.json).toEqual({ ...made.json, limit: 5, updated_at: later })
  const concurrency = await plane.call('PATCH', one, { key, body: { metric: 'concurrency' } })
  expect(concurrency.json).toMatchObject({ metric: 'concurrency', limit: 5, window_seconds: null })
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('PATCH', one, { key, body: {} })).outcome).toBe('404 resource_not_found')
})

test('an organization, an environment and its sibling list only their own limits', async () => {
  const other = await plane.insertTenant('apart')
  const paths = [
    `/v1/orgs/${other.organization.id}/limits`,
    `/v1/environments/${other.development.id}/limits`,
    `/v1/environments/${other.production.id}/limits`,
  ]
  const ids: string[] = []
  for (const [index, path] of paths.entries()) {
    const body = { scope: index === 0 ? 'org' : 'environment', ...perMinute }
    ids.push((await create(path, body, other.keys.admin)).json.id)
  }
  for (const [index, path] of paths.entries()) {
    const { json } = await plane.call<List<Limit>>('GET', path, { key: other.keys.viewer })
    expect(json.data.map(({ id }) => id)).toEqual([ids[index]])
  }
})

test('a limit of a deleted project still changes, but its scope', async () => {
  const other = await plane.insertTenant('left')
  const key = other.keys.admin
  const path = `/v1/orgs/${other.organization.id}`
  const { json: project } = await plane.call<{ id: string }>('POST', `${path}/projects`, {
    key,
    body: { name: 'left' },
  })
  const scoped = { scope: 'project', scope_ref: project.id }
  const { json: limit } = await create(`${path}/limits`, { ...scoped, ...perMinute }, key)
  expect((await plane.call('DELETE', `/v1/projects/${project.id}`, { key })).status).toBe(204)
  const change = (body: object) => plane.call<Limit>('PATCH', `/v1/limits/${limit.id}`, { key, body })
  expect((await change({ limit: 5 })).json).toMatchObject({ ...scoped, limit: 5 })
  expect((await change({ ...scoped, limit: 6 })).json).toMatchObject({ ...scoped, limit: 6 })
  expect((await change({ scope: 'environment' })).outcome).toBe('400 invalid_request scope_ref')
})

describe('the window of a limit', () => {
  test.each([
    ['requests', undefined],
    ['requests', null],
    ['tokens', undefined],
    ['tokens', null],
  ])('is 60 seconds for %s where it is %s', async (metric, window_seconds) => {
    const made = await create(inEnvironment, { scope: 'environment', metric, limit: 5, window_seconds })
    expect([made.outcome, made.json.window_seconds]).toEqual(['201', 60])
  })

  test('must be absent for concurrency, also in a change', async () => {
    const key = tenant.keys.developer
    const made = await create(inEnvironment, { scope: 'environment', metric: 'concurrency', limit: 5 })
    const body = { window_seconds: 60 }
    const { outcome } = await plane.call('PATCH', `/v1/limits/${made.json.id}`, { key, body })
    expect(outcome).toBe('400 invalid_request window_seconds')
  })

  test('is 60 seconds for requests after a change that clears it', async () => {
    const key = tenant.keys.developer
    const made = await create(inEnvironment, { scope: 'environment', ...perMinute, window_seconds: 10 })
    const body = { window_seconds: null }
    const { json } = await plane.call<Limit>('PATCH', `/v1/limits/${made.json.id}`, { key, body })
    expect(json.window_seconds).toBe(60)
  })
})

describe('the scope of a limit', () => {
  test('another one in a change starts without the scope_ref of the last one', async () => {
    const key = tenant.keys.developer
    const made = await create(inEnvironment, { scope: 'default_end_user', ...perMinute })
    const change = (body: object) => plane.call<Limit>('PATCH', `/v1/limits/${made.json.id}`, { key, body })
    const named = { scope: 'end_user', scope_ref: 'ada' }
    expect((await change(named)).json).toMatchObject(named)
    expect((await change({ scope: 'environment' })).json).toMatchObject({
      scope: 'environment',
      scope_ref: null,
    })
    expect((await change({ scope: 'end_user' })).outcome).toBe('400 invalid_request scope_ref')
  })

  beforeAll(async () => {
    await INSERT_POLICY.end_user(plane.database.db, plane.newId(), tenant.development)
    const [user] = (
      await plane.database.pool.query('select external_id from end_users where environment_id = $1', [
        tenant.development.id,
      ])
    ).rows
    endUser = user.external_id
  })
  let endUser: string

  test('an environment limit applies to the environment, a key or end users', async () => {
    for (const [scope, scope_ref] of [
      ['environment', undefined],
      ['environment', tenant.development.id],
      ['key', keyId],
      ['end_user', endUser],
      ['default_end_user', undefined],
    ]) {
      const { outcome, json } = await create(inEnvironment, { scope, scope_ref, ...perMinute })
      expect([scope, outcome]).toEqual([scope, '201'])
      expect(json.scope_ref).toBe(scope_ref ?? null)
    }
  })

  test.each([
    'not seen yet',
    ' spaces are part of it ',
    'x'.repeat(255),
    '0198a1f0-0000-7000-8000-000000000001',
  ])('an environment limit applies to an end user without a record: %s', async scope_ref => {
    const { outcome, json } = await create(inEnvironment, { scope: 'end_user', scope_ref, ...perMinute })
    expect([outcome, json.scope_ref]).toEqual(['201', scope_ref])
  })

  test("an end user's record is named by its id in its own environment alone", async () => {
    const path = `/v1/environments/${tenant.development.id}/end-users`
    const made = await plane.call<{ id: string }>('POST', path, {
      key: tenant.keys.developer,
      body: { external_id: 'ann' },
    })
    const body = { scope: 'end_user', scope_ref: made.json.id, ...perMinute }
    expect((await create(inEnvironment, body)).json.scope_ref).toBe('ann')
    const elsewhere = `/v1/environments/${stranger.development.id}/limits`
    expect((await create(elsewhere, body, stranger.keys.admin)).json.scope_ref).toBe(made.json.id)
  })

  test('a device or member is named once a request of its environment named it', async () => {
    const named = { end_user_id: 'device:seen' }
    await insertRecords(plane.database.pool, [
      requestRecord(tenant.development, plane.newId(), plane.clock.now(), named),
    ])
    const body = { scope: 'end_user', scope_ref: 'device:seen', ...perMinute }
    expect((await create(inEnvironment, body)).outcome).toBe('201')
    const elsewhere = `/v1/environments/${stranger.development.id}/limits`
    expect((await create(elsewhere, body, stranger.keys.admin)).outcome).toBe('400 invalid_request scope_ref')
  })

  test('an organization limit applies to the organization or anything below it with an id', async () => {
    for (const [scope, scope_ref] of [
      ['org', undefined],
      ['org', tenant.organization.id],
      ['project', tenant.project.id.toUpperCase()],
      ['environment', tenant.production.id],
      ['key', keyId],
    ]) {
      const { outcome, json } = await create(inOrganization, { scope, scope_ref, ...perMinute })
      expect([scope, outcome]).toEqual([scope, '201'])
      expect(json).toMatchObject({
        scope_ref: scope_ref?.toLowerCase() ?? null,
        project_id: null,
        environment_id: null,
      })
    }
  })

  test.each([
    ['a project without its id', 'org', 'project', () => undefined],
    ['a project of another organization', 'org', 'project', () => stranger.project.id],
    ['another organization', 'org', 'org', () => stranger.organization.id],
    ['an environment of another organization', 'org', 'environment', () => stranger.development.id],
    ['a key of another organization', 'org', 'key', () => foreignKeyId],
    ['a text that is not an id', 'org', 'key', () => 'backend'],
    ['a key of another environment', 'env', 'key', () => foreignKeyId],
    ['the sibling environment', 'env', 'environment', () => tenant.production.id],
    ['a key without its id', 'env', 'key', () => undefined],
    ['a device without a request', 'env', 'end_user', () => 'device:unknown'],
    ['a member without a request', 'env', 'end_user', () => 'member:unknown'],
    ['a name of an end user that is too long', 'env', 'end_user', () => 'x'.repeat(256)],
    ['a name of an end user with a control character', 'env', 'end_user', () => 'a\nb'],
    ['an empty name of an end user', 'env', 'end_user', () => ''],
    ['default_end_user with a scope_ref', 'env', 'default_end_user', () => 'somebody'],
  ])('400 invalid_request scope_ref: %s', async (_, at, scope, refOf) => {
    const path = at === 'org' ? inOrganization : inEnvironment
    const { outcome } = await create(path, { scope, scope_ref: refOf(), ...perMinute })
    expect(outcome).toBe('400 invalid_request scope_ref')
  })

  test('rejects a changed scope without its scope_ref with 400 invalid_request scope_ref', async () => {
    const { json } = await create(inEnvironment, { scope: 'environment', ...perMinute })
    const body = { scope: 'key' }
    const { outcome } = await plane.call('PATCH', `/v1/limits/${json.id}`, { key: tenant.keys.admin, body })
    expect(outcome).toBe('400 invalid_request scope_ref')
  })
})

describe('400 invalid_request', () => {
  test.each([
    [{ scope: 'project' }, 'scope'],
    [{ scope: 'org' }, 'scope'],
    [{ scope: 'team' }, 'scope'],
    [{ scope: undefined }, 'scope'],
    [{ metric: 'usd' }, 'metric'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: '1' }, 'limit'],
    [{ limit: 2 ** 60 }, 'limit'],
    [{ limit: null }, 'limit'],
    [{ window_seconds: 0 }, 'window_seconds'],
    [{ window_seconds: 31 * 86400 + 1 }, 'window_seconds'],
    [{ metric: 'concurrency' }, 'window_seconds'],
    [{ window: 'day' }, 'window'],
  ])('%j', async (change, param) => {
    const { outcome } = await create(inEnvironment, { scope: 'environment', ...perMinute, ...change })
    expect(outcome).toBe(`400 invalid_request ${param}`)
  })

  test.each(['end_user', 'default_end_user'])(
    'rejects the scope %s in an organization limit',
    async scope => {
      expect((await create(inOrganization, { scope, ...perMinute })).outcome).toBe(
        '400 invalid_request scope',
      )
    },
  )
})

test('403 insufficient_role: a developer neither creates nor changes a limit of the organization', async () => {
  const key = tenant.keys.developer
  const body = { scope: 'org', ...perMinute }
  expect((await create(inOrganization, body, key)).outcome).toBe('403 insufficient_role')
  const { json } = await create(inOrganization, body)
  const one = `/v1/limits/${json.id}`
  expect((await plane.call('PATCH', one, { key, body: { limit: 1 } })).outcome).toBe('403 insufficient_role')
  expect((await plane.call('DELETE', one, { key })).outcome).toBe('403 insufficient_role')
  expect((await plane.call('DELETE', one, { key: tenant.keys.admin })).status).toBe(204)
})

describe('preview', () => {
  const preview = (body: object, by = tenant) =>
    plane.call<any>('POST', `${inEnvironment}/preview`, { key: by.keys.viewer, body })

  test('counts what a rule would have refused in the last 7 days, and stores nothing', async () => {
    const fresh = await plane.insertTenant('previewed')
    const path = `/v1/environments/${fresh.development.id}/limits`
    const ask = (body: object) => plane.call<any>('POST', `${path}/preview`, { key: fresh.keys.viewer, body })
    const now = plane.clock.now()
    const at = Math.floor((now - 2 * 86_400_000) / 60_000) * 60_000
    const records = [0, 1, 2].map(index =>
      requestRecord(fresh.development, plane.newId(), at + index, { end_user_id: 'ann' }),
    )
    await insertRecords(plane.database.pool, records)
    const question = { scope: 'default_end_user', metric: 'requests', limit: 2 }
    const { outcome, json } = await ask({ ...question, window_seconds: 60 })
    expect(outcome).toBe('200')
    expect(json).toEqual({
      from: new Date(now - 7 * 86_400_000).toISOString(),
      to: new Date(now).toISOString(),
      is_complete: true,
      requests: 3,
      refused: 1,
      affected: 1,
    })
    expect((await ask({ ...question, window: 'month', limit: 3 })).json.refused).toBe(0)
    expect((await plane.call<List<Limit>>('GET', path, { key: fresh.keys.viewer })).json.data).toEqual([])
  })

  test.each([
    [{ scope: 'environment', metric: 'requests', limit: 1 }, '400 invalid_request window'],
    [
      { scope: 'environment', metric: 'requests', limit: 1, window: 'day', window_seconds: 60 },
      '400 invalid_request window',
    ],
    [{ scope: 'org', metric: 'requests', limit: 1, window: 'day' }, '400 invalid_request scope'],
    [{ scope: 'environment', metric: 'concurrency', limit: 1, window: 'day' }, '400 invalid_request metric'],
    [{ scope: 'environment', metric: 'concurrency', limit: 1.5 }, '400 invalid_request limit'],
    [{ scope: 'environment', metric: 'usd', limit: 4e-10, window: 'day' }, '400 invalid_request limit'],
    [
      { scope: 'environment', metric: 'usd', limit: 1, window_seconds: 60 },
      '400 invalid_request window_seconds',
    ],
    [
      { scope: 'environment', metric: 'tokens', limit: 1, window: 'day', real_only: true },
      '400 invalid_request real_only',
    ],
  ])('%j: %s', async (body, outcome) => {
    expect((await preview(body)).outcome).toBe(outcome)
  })

  test('tries budgets, with the sandbox or without, and running requests', async () => {
    const fresh = await plane.insertTenant('dearer')
    const path = `/v1/environments/${fresh.development.id}/limits/preview`
    const ask = async (body: object) =>
      (
        await plane.call<any>('POST', path, {
          key: fresh.keys.viewer,
          body: { scope: 'environment', ...body },
        })
      ).json
    const noon = Math.floor((plane.clock.now() - 2 * 86_400_000) / 86_400_000) * 86_400_000 + 43_200_000
    const at = (seconds: number, sandbox: boolean) =>
      requestRecord(fresh.development, plane.newId(), noon + seconds * 1000, {
        sandbox,
        cost_nano_usd: 400_000_000,
        total_ms: 10_000,
      })
    await insertRecords(plane.database.pool, [at(0, false), at(5, true), at(9, false), at(14, false)])
    const usd = { metric: 'usd', limit: 0.8, window: 'day' }
    expect(await ask(usd)).toMatchObject({ requests: 4, refused: 2, is_complete: true })
    expect(await ask({ ...usd, real_only: true })).toMatchObject({ requests: 3, refused: 1 })
    // The second runs beside the first; the third would be a third one; the fourth comes when the first has ended.
    expect(await ask({ metric: 'concurrency', limit: 2 })).toMatchObject({
      requests: 4,
      refused: 1,
      affected: 1,
    })
    expect(await ask({ metric: 'concurrency', limit: 3 })).toMatchObject({
      requests: 4,
      refused: 0,
      affected: 0,
    })
    expect(await ask({ metric: 'concurrency', limit: 0 })).toMatchObject({ requests: 4, refused: 4 })
  })

  test("refuses a key of another tenant, also in that tenant's environment", async () => {
    const body = { scope: 'key', scope_ref: foreignKeyId, metric: 'requests', limit: 1, window: 'day' }
    expect((await preview(body)).outcome).toBe('400 invalid_request scope_ref')
    expect((await preview(body, stranger)).status).toBe(404)
  })
})
