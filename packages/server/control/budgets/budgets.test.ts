import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
import type { BudgetResource } from './budget-resource.ts'

type Budget = z.output<typeof BudgetResource>

const NOW = Date.parse('2031-05-14T10:30:00Z')

let plane: ControlPlane
beforeAll(async () => {
  plane = await openControlPlane()
  plane.clock.advance(NOW - plane.clock.now())
})
afterAll(() => plane.close())

const ofProject = (tenant: Tenant): string => `/v1/projects/${tenant.project.id}/budgets`
const ofOrganization = (tenant: Tenant): string => `/v1/orgs/${tenant.organization.id}/budgets`
const create = (tenant: Tenant, path: string, body: object) =>
  plane.call<Budget>('POST', path, { key: tenant.keys.admin, body })
const monthly = { limit_usd: 100, window: 'month' }

/** Inserts one request with this cost in nano-dollars. */
async function spend(environment: EnvironmentRow, cost: number | null, change: Partial<RequestRecord> = {}) {
  const record = requestRecord(environment, plane.newId(), plane.clock.now(), {
    cost_nano_usd: cost,
    sandbox: false,
    ...change,
  })
  await insertRecords(plane.database.pool, [record])
}

test('a budget of an environment whose project is deleted still changes', async () => {
  const tenant = await plane.insertTenant('left')
  const key = tenant.keys.admin
  const scoped = { scope: 'environment', scope_ref: tenant.development.id }
  const { json: budget } = await create(tenant, ofOrganization(tenant), { ...monthly, ...scoped })
  expect((await plane.call('DELETE', `/v1/projects/${tenant.project.id}`, { key })).status).toBe(204)
  const body = { limit_usd: 5 }
  const changed = await plane.call<Budget>('PATCH', `/v1/budgets/${budget.id}`, { key, body })
  expect(changed.json).toMatchObject({ ...scoped, limit_usd: 5 })
})

test('a budget is created, listed with its spend, changed in part and removed', async () => {
  const tenant = await plane.insertTenant('life')
  await spend(tenant.development, 290_000_001)
  const made = await create(tenant, ofProject(tenant), { ...monthly, alert_pcts: [100, 50, 100] })
  const now = new Date(NOW).toISOString()
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.any(String),
    org_id: tenant.organization.id,
    project_id: tenant.project.id,
    scope: null,
    scope_ref: null,
    window: 'month',
    limit_usd: 100,
    alert_pcts: [50, 100],
    on_tight: 'cap',
    spent_usd: 0.290000001,
    // This control plane runs without a gateway, so it cannot read reservations.
    reserved_usd: null,
    projected_usd: null,
    resets_at: '2031-06-01T00:00:00.000Z',
    created_at: now,
    updated_at: now,
  })
  const { json } = await plane.call<List<Budget>>('GET', ofProject(tenant), { key: tenant.keys.viewer })
  expect(json).toEqual({ data: [made.json], has_more: false, next_cursor: null })
  const one = `/v1/budgets/${made.json.id}`
  const key = tenant.keys.admin
  const changed = await plane.call('PATCH', one, { key, body: { limit_usd: 0.1, alert_pcts: null } })
  expect(changed.json).toEqual({ ...made.json, limit_usd: 0.1, alert_pcts: [] })
  const scoped = { scope: 'environment', scope_ref: tenant.production.id }
  const narrowed = await plane.call('PATCH', one, { key, body: scoped })
  expect(narrowed.json).toMatchObject({ ...scoped, spent_usd: 0 })
  const widened = await plane.call('PATCH', one, { key, body: { scope: null } })
  expect(widened.json).toMatchObject({ scope: null, spent_usd: 0.290000001 })
  const strict = await plane.call<Budget>('PATCH', one, { key, body: { on_tight: 'refuse' } })
  expect(strict.json.on_tight).toBe('refuse')
  const kept = await plane.call<Budget>('PATCH', one, { key, body: { limit_usd: 1 } })
  expect(kept.json.on_tight).toBe('refuse')
  const cleared = await plane.call<Budget>('PATCH', one, { key, body: { on_tight: null } })
  expect(cleared.json.on_tight).toBe('cap')
  const refusal = await plane.call('PATCH', one, { key, body: { on_tight: 'warn' } })
  expect(refusal.outcome).toBe('400 invalid_request on_tight')
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('PATCH', one, { key, body: {} })).outcome).toBe('404 resource_not_found')
})

describe('spent_usd', () => {
  test("counts the whole current calendar window, or for total everything since the budget's creation", async () => {
    const tenant = await plane.insertTenant('windows')
    for (const at of ['2031-05-14T00:00:00Z', '2031-05-13T23:59:59Z', '2031-05-11T12:00:00Z']) {
      await spend(tenant.development, 1_000_000_000, { at: new Date(at).toISOString() })
    }
    const made: [string, number, string | null][] = []
    for (const window of ['day', 'week', 'month', 'total']) {
      const { json } = await create(tenant, ofProject(tenant), { ...monthly, window })
      made.push([window, json.spent_usd, json.resets_at])
    }
    expect(made).toEqual([
      ['day', 1, '2031-05-15T00:00:00.000Z'],
      ['week', 2, '2031-05-19T00:00:00.000Z'],
      ['month', 3, '2031-06-01T00:00:00.000Z'],
      ['total', 0, null],
    ])
    await spend(tenant.development, 500_000_000)
    const { json } = await plane.call<List<Budget>>('GET', ofProject(tenant), { key: tenant.keys.viewer })
    const spent = Object.fromEntries(json.data.map(({ window, spent_usd }) => [window, spent_usd]))
    expect(spent).toEqual({ day: 1.5, week: 2.5, month: 3.5, total: 0.5 })
  })

  test('counts its scope only: the owner, an environment or a key, and no other tenant; an unknown price adds nothing', async () => {
    const tenant = await plane.insertTenant('scopes')
    const other = await plane.insertTenant('other')
    const keyId = (await plane.insertApiKey(tenant)).row.id
    await spend(tenant.development, 1_000_000_000, { key_id: keyId })
    await spend(tenant.development, null, { key_id: keyId })
    await spend(tenant.production, 2_000_000_000)
    await spend(other.development, 4_000_000_000)
    for (const path of [ofProject(tenant), ofOrganization(tenant)]) {
      const spentOf = async (scope?: string, scope_ref?: string) =>
        (await create(tenant, path, { ...monthly, scope, scope_ref })).json.spent_usd
      expect(await spentOf()).toBe(3)
      expect(await spentOf('environment', tenant.development.id)).toBe(1)
      expect(await spentOf('environment', tenant.production.id)).toBe(2)
      expect(await spentOf('key', keyId)).toBe(1)
    }
  })

  test('includes the sandbox for a project and excludes it for the organization', async () => {
    const tenant = await plane.insertTenant('sandbox')
    await spend(tenant.development, 1_000_000_000, { sandbox: true })
    await spend(tenant.development, 2_000_000_000)
    expect((await create(tenant, ofProject(tenant), monthly)).json.spent_usd).toBe(3)
    expect((await create(tenant, ofOrganization(tenant), monthly)).json.spent_usd).toBe(2)
  })

  test.each([1e-9, 0.29, 0.123456789, 999_999.999999999])(
    'keeps a limit of %d USD as it was sent',
    async usd => {
      const tenant = await plane.insertTenant('decimals')
      const { json } = await create(tenant, ofProject(tenant), { ...monthly, limit_usd: usd })
      expect(json.limit_usd).toBe(usd)
    },
  )

  test('adds up exactly where doubles would round', async () => {
    const tenant = await plane.insertTenant('exact')
    for (let count = 0; count < 10; count++) await spend(tenant.development, 100_000_000)
    expect((await create(tenant, ofProject(tenant), monthly)).json.spent_usd).toBe(1)
  })
})

describe('400 invalid_request', () => {
  test.each([
    [{ limit_usd: -1 }, 'limit_usd'],
    [{ limit_usd: 1e7 }, 'limit_usd'],
    [{ limit_usd: '1' }, 'limit_usd'],
    [{ limit_usd: 4e-10 }, 'limit_usd'],
    [{ limit_usd: 0.12345678949 }, 'limit_usd'],
    [{ limit_usd: undefined }, 'limit_usd'],
    [{ window: 'hour' }, 'window'],
    [{ scope: 'end_user' }, 'scope'],
    [{ scope: 'key' }, 'scope_ref'],
    [{ scope: 'environment' }, 'scope_ref'],
    [{ scope_ref: '00000000-0000-0000-0000-000000000000' }, 'scope_ref'],
    [{ scope: 'key', scope_ref: '00000000-0000-0000-0000-000000000000' }, 'scope_ref'],
    [{ alert_pcts: [0] }, 'alert_pcts[0]'],
    [{ alert_pcts: [50, 1001] }, 'alert_pcts[1]'],
    [{ alert_pcts: [1.5] }, 'alert_pcts[0]'],
    [{ spent_usd: 0 }, 'spent_usd'],
  ])('%j', async (change, param) => {
    const tenant = await plane.insertTenant('bad')
    for (const path of [ofProject(tenant), ofOrganization(tenant)]) {
      const { outcome } = await create(tenant, path, { ...monthly, ...change })
      expect(outcome).toBe(`400 invalid_request ${param}`)
    }
  })

  test("scope_ref: another tenant's environment", async () => {
    const tenant = await plane.insertTenant('ours')
    const { development } = await plane.insertTenant('theirs')
    const body = { ...monthly, scope: 'environment', scope_ref: development.id }
    expect((await create(tenant, ofOrganization(tenant), body)).outcome).toBe('400 invalid_request scope_ref')
  })
})

test('an organization and a project list only their own budgets', async () => {
  const tenant = await plane.insertTenant('apart')
  const one = (await create(tenant, ofOrganization(tenant), monthly)).json.id
  const two = (await create(tenant, ofProject(tenant), monthly)).json.id
  const idsOf = async (path: string) => {
    const { json } = await plane.call<List<Budget>>('GET', path, { key: tenant.keys.viewer })
    return json.data.map(({ id }) => id)
  }
  expect(await idsOf(ofOrganization(tenant))).toEqual([one])
  expect(await idsOf(ofProject(tenant))).toEqual([two])
})

test('what is likely to be spent is the mean of the last 7 whole days for the time that is left', async () => {
  const tenant = await plane.insertTenant('likely')
  const at = (time: string) => new Date(time).toISOString()
  await spend(tenant.development, 7_000_000_000, { at: at('2031-05-13T23:59:59Z') })
  await spend(tenant.production, 7_000_000_000, { at: at('2031-05-07T00:00:00Z') })
  // Neither is within the 7 whole days; today's is spent.
  await spend(tenant.production, 1_000_000_000, { at: at('2031-05-06T23:59:59Z') })
  await spend(tenant.production, 1_000_000_000, { at: at('2031-05-14T10:00:00Z') })
  // The organization's budget does not count the sandbox.
  await spend(tenant.production, 7_000_000_000, { at: at('2031-05-08T12:00:00Z'), sandbox: true })
  const left = (Date.parse('2031-06-01T00:00:00Z') - NOW) / 86_400_000
  const ofMonth = await create(tenant, ofOrganization(tenant), monthly)
  expect(ofMonth.json.spent_usd).toBe(16)
  expect(ofMonth.json.projected_usd).toBeCloseTo(16 + 2 * left, 6)
  const whole = await create(tenant, ofProject(tenant), monthly)
  expect(whole.json.projected_usd).toBeCloseTo(23 + 3 * left, 6)
  const scoped = { scope: 'environment', scope_ref: tenant.development.id }
  const ofDevelopment = await create(tenant, ofProject(tenant), { ...monthly, ...scoped, window: 'day' })
  expect(ofDevelopment.json.projected_usd).toBeCloseTo(13.5 / 24, 6)
  expect(
    (await create(tenant, ofProject(tenant), { ...monthly, window: 'total' })).json.projected_usd,
  ).toBeNull()
})

test('what is likely to be spent with a key counts the keys that it replaced', async () => {
  const tenant = await plane.insertTenant('rolled')
  const { developer: key } = tenant.keys
  const first = (await plane.insertApiKey(tenant)).row.id
  const second = (await plane.call<{ id: string }>('POST', `/v1/keys/${first}/roll`, { key })).json.id
  const other = (await plane.insertApiKey(tenant)).row.id
  const at = '2031-05-13T12:00:00.000Z'
  for (const id of [first, second, second, other]) {
    await spend(tenant.development, 7_000_000_000, { key_id: id, at })
  }
  for (const scope_ref of [first, second]) {
    const { json } = await create(tenant, ofProject(tenant), {
      ...monthly,
      window: 'day',
      scope: 'key',
      scope_ref,
    })
    expect(json.projected_usd).toBeCloseTo((3 * 13.5) / 24, 6)
  }
})

test('nothing is estimated without requests to go by', async () => {
  const tenant = await plane.insertTenant('unlikely')
  await spend(tenant.production, 1_000_000_000)
  expect((await create(tenant, ofProject(tenant), monthly)).json.projected_usd).toBeNull()
})
