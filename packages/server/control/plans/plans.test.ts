import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clearDeletedPlans } from '../../storage/policies/deleted-plans.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { PlanResource } from './plan-resource.ts'

type Plan = z.output<typeof PlanResource>

let plane: ControlPlane
let tenant: Tenant
let path: string
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
})
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/plans`
  key = tenant.keys.developer
})
afterAll(() => plane.close())

const create = (body: object) => plane.call<Plan>('POST', path, { key, body })
const patch = (id: string, body: object) => plane.call<Plan>('PATCH', `/v1/plans/${id}`, { key, body })
const defaults = async () => {
  const { json } = await plane.call<List<Plan>>('GET', path, { key })
  return json.data.filter(plan => plan.is_default).map(({ id }) => id)
}

test('a plan with every bound is created, read, listed, changed in part and removed', async () => {
  const bounds = {
    allowed_models: ['openai/*', 'fast'],
    scopes: ['ai.chat', 'feedback'],
    requests_per_minute: 10,
    max_concurrency: 2,
    tokens_per_day: 50_000,
    usd_per_month: 4.99,
    is_default: true,
  }
  const made = await create({ name: 'pro', ...bounds })
  const now = new Date(plane.clock.now()).toISOString()
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.any(String),
    project_id: tenant.project.id,
    environment_id: tenant.development.id,
    name: 'pro',
    ...bounds,
    created_at: now,
    updated_at: now,
  })
  const one = `/v1/plans/${made.json.id}`
  const viewer = { key: tenant.keys.viewer }
  expect((await plane.call('GET', one, viewer)).json).toEqual(made.json)
  expect((await plane.call<List<Plan>>('GET', path, viewer)).json.data).toEqual([made.json])
  const changed = await patch(made.json.id, { usd_per_month: null, scopes: null, max_concurrency: 0 })
  expect(changed.json).toEqual({ ...made.json, usd_per_month: null, scopes: null, max_concurrency: 0 })
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('GET', one, { key })).outcome).toBe('404 resource_not_found')
})

test('absent bounds are null and do not limit anything', async () => {
  const { json } = await create({ name: 'free', requests_per_minute: null })
  expect(json).toMatchObject({
    allowed_models: null,
    scopes: null,
    requests_per_minute: null,
    max_concurrency: null,
    tokens_per_day: null,
    usd_per_month: null,
    is_default: false,
  })
})

describe('the default plan', () => {
  test('is unique: a new default plan replaces the old one', async () => {
    const first = (await create({ name: 'a', is_default: true })).json.id
    expect(await defaults()).toEqual([first])
    const second = (await create({ name: 'b', is_default: true })).json.id
    expect(await defaults()).toEqual([second])
    await patch(first, { is_default: true })
    expect(await defaults()).toEqual([first])
    await patch(first, { is_default: true })
    expect(await defaults()).toEqual([first])
    await patch(first, { is_default: false })
    expect(await defaults()).toEqual([])
  })

  test('stays the old one if the new one is rejected', async () => {
    const first = (await create({ name: 'a', is_default: true })).json.id
    expect((await create({ name: 'a', is_default: true })).outcome).toBe('409 resource_conflict name')
    expect(await defaults()).toEqual([first])
  })

  test('stays unique if many plans are made the default concurrently', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(name => create({ name, is_default: true })))
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(await defaults()).toHaveLength(1)
  })

  test('is separate for the sibling environment', async () => {
    await create({ name: 'a', is_default: true })
    const body = { name: 'a', is_default: true }
    await plane.call('POST', `/v1/environments/${tenant.production.id}/plans`, { key, body })
    expect(await defaults()).toHaveLength(1)
  })
})

describe('a deleted plan with end users', () => {
  const readPlanOf = async (id: string) =>
    (await plane.call<{ plan: string | null }>('GET', `/v1/end-users/${id}`, { key })).json.plan
  const insertEndUser = async (externalId: string, plan: string) => {
    const body = { external_id: externalId, plan }
    const users = `/v1/environments/${tenant.development.id}/end-users`
    return (await plane.call<{ id: string }>('POST', users, { key, body })).json.id
  }
  const listIds = async (query: string) => {
    const users = `/v1/environments/${tenant.development.id}/end-users?${query}`
    return (await plane.call<List<{ id: string }>>('GET', users, { key })).json.data.map(({ id }) => id)
  }

  test('is gone at once, and its end users have none, before and after their records are cleared', async () => {
    const { id } = (await create({ name: 'free', is_default: true })).json
    const endUserId = await insertEndUser('ann', 'free')
    expect(await listIds('plan=free')).toEqual([endUserId])
    expect((await plane.call('DELETE', `/v1/plans/${id}`, { key })).status).toBe(204)
    const assertGone = async () => {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const body = method === 'PATCH' ? { name: 'again', is_default: true } : undefined
        const { outcome } = await plane.call(method, `/v1/plans/${id}`, { key, body })
        expect(outcome).toBe('404 resource_not_found')
      }
      expect((await plane.call<List<Plan>>('GET', path, { key })).json.data).toEqual([])
      expect(await readPlanOf(endUserId)).toBeNull()
      expect(await listIds('plan=free')).toEqual([])
      for (const plan of ['free', id]) {
        const body = { external_id: 'bob', plan }
        const users = `/v1/environments/${tenant.development.id}/end-users`
        expect((await plane.call('POST', users, { key, body })).outcome).toBe('400 invalid_request plan')
      }
    }
    await assertGone()
    await clearDeletedPlans(plane.database.pool)
    await assertGone()
  })

  test('leaves its name and its place as the default to a new plan, which its end users do not get', async () => {
    const { id } = (await create({ name: 'free', is_default: true })).json
    const endUserId = await insertEndUser('ann', 'free')
    await plane.call('DELETE', `/v1/plans/${id}`, { key })
    const next = await create({ name: 'free', is_default: true })
    expect(next.status).toBe(201)
    expect(await defaults()).toEqual([next.json.id])
    await clearDeletedPlans(plane.database.pool)
    expect(await readPlanOf(endUserId)).toBeNull()
    expect(await listIds('plan=free')).toEqual([])
  })

  test('does not count among the plans that an environment may have', async () => {
    const { id } = (await create({ name: 'first' })).json
    await plane.database.pool.query(
      `insert into plans (id, org_id, project_id, environment_id, name, created_at, updated_at)
        select gen_random_uuid(), org_id, project_id, environment_id, 'plan ' || n, now(), now()
        from plans, generate_series(2, 200) as n where id = $1`,
      [id],
    )
    expect((await create({ name: 'one more' })).outcome).toBe('409 resource_conflict')
    await insertEndUser('ann', 'first')
    await plane.call('DELETE', `/v1/plans/${id}`, { key })
    expect((await create({ name: 'one more' })).status).toBe(201)
  })
})

describe('409 resource_conflict name', () => {
  test('rejects a second plan with the name of an existing one, and leaves both plans unchanged', async () => {
    await create({ name: 'a' })
    const { json } = await create({ name: 'b' })
    expect((await create({ name: 'a' })).outcome).toBe('409 resource_conflict name')
    expect((await patch(json.id, { name: 'a', max_concurrency: 1 })).outcome).toBe(
      '409 resource_conflict name',
    )
    expect((await plane.call('GET', `/v1/plans/${json.id}`, { key })).json).toEqual(json)
    expect((await patch(json.id, { name: 'b' })).status).toBe(200)
  })
})

test.each([
  [{ name: '' }, 'invalid_request name'],
  [{ name: 'x'.repeat(65) }, 'invalid_request name'],
  [{ allowed_models: [''] }, 'invalid_request allowed_models[0]'],
  [{ scopes: [] }, 'invalid_scope scopes'],
  [{ scopes: ['ai.fly'] }, 'invalid_scope scopes'],
  [{ requests_per_minute: -1 }, 'invalid_request requests_per_minute'],
  [{ max_concurrency: 0.5 }, 'invalid_request max_concurrency'],
  [{ tokens_per_day: '1' }, 'invalid_request tokens_per_day'],
  [{ usd_per_month: -0.01 }, 'invalid_request usd_per_month'],
  [{ usd_per_month: 4e-10 }, 'invalid_request usd_per_month'],
  [{ is_default: 'yes' }, 'invalid_request is_default'],
  [{ price: 1 }, 'invalid_request price'],
])('400 %j', async (change, outcome) => {
  expect((await create({ name: 'a', ...change })).outcome).toBe(`400 ${outcome}`)
})
