import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
import type { QuotaResource } from './quota-resource.ts'

type Quota = z.output<typeof QuotaResource>

/** A Wednesday. */
const NOW = Date.parse('2031-05-14T10:30:00Z')

let plane: ControlPlane
beforeAll(async () => {
  plane = await openControlPlane()
  plane.clock.advance(NOW - plane.clock.now())
})
afterAll(() => plane.close())

const pathOf = (tenant: Tenant): string => `/v1/environments/${tenant.development.id}/quotas`
const create = (tenant: Tenant, body: object) =>
  plane.call<Quota>('POST', pathOf(tenant), { key: tenant.keys.developer, body })
const daily = { scope: 'environment', metric: 'requests', window: 'day', limit: 100 }

/** Inserts requests in the development environment at these times, with 20 input and 10 output tokens each. */
async function use(tenant: Tenant, times: readonly string[], change: Partial<RequestRecord> = {}) {
  const tokens = { uncached_input_tokens: 14, output_tokens: 7, reasoning_tokens: 3 }
  const records = times.map(time =>
    requestRecord(tenant.development, plane.newId(), Date.parse(time), { ...tokens, ...change }),
  )
  await insertRecords(plane.database.pool, records)
}

test('a quota of a device whose record and requests are gone still changes', async () => {
  const tenant = await plane.insertTenant('device')
  await use(tenant, ['2031-05-14T09:00:00Z'], { end_user_id: 'device:seen' })
  const scoped = { scope: 'end_user', scope_ref: 'device:seen' }
  const { json: quota } = await create(tenant, { ...daily, ...scoped })
  await plane.database.pool.query('delete from request_logs where environment_id = $1', [
    tenant.development.id,
  ])
  const changed = await plane.call<Quota>('PATCH', `/v1/quotas/${quota.id}`, {
    key: tenant.keys.developer,
    body: { limit: 5 },
  })
  expect(changed.json).toMatchObject({ ...scoped, limit: 5 })
})

test('a quota is created, listed with its usage, changed in part and removed', async () => {
  const tenant = await plane.insertTenant('life')
  await use(tenant, ['2031-05-14T09:00:00Z'])
  const made = await create(tenant, daily)
  const now = new Date(NOW).toISOString()
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.any(String),
    project_id: tenant.project.id,
    environment_id: tenant.development.id,
    scope: 'environment',
    scope_ref: null,
    metric: 'requests',
    window: 'day',
    limit: 100,
    grace_pct: 0,
    used: 1,
    // This control plane runs without a gateway, so it cannot read reservations.
    reserved: null,
    resets_at: '2031-05-15T00:00:00.000Z',
    created_at: now,
    updated_at: now,
  })
  const { json } = await plane.call<List<Quota>>('GET', pathOf(tenant), { key: tenant.keys.viewer })
  expect(json).toEqual({ data: [made.json], has_more: false, next_cursor: null })
  const one = `/v1/quotas/${made.json.id}`
  const key = tenant.keys.developer
  const changed = await plane.call('PATCH', one, { key, body: { metric: 'tokens', grace_pct: 12.5 } })
  expect(changed.json).toEqual({ ...made.json, metric: 'tokens', grace_pct: 12.5, used: 30 })
  const cleared = await plane.call<Quota>('PATCH', one, { key, body: { grace_pct: null } })
  expect(cleared.json.grace_pct).toBe(0)
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('DELETE', one, { key })).outcome).toBe('404 resource_not_found')
})

describe('used', () => {
  test("counts the current window, including usage before the quota's creation", async () => {
    const tenant = await plane.insertTenant('windows')
    const times = [
      '2031-05-14T10:00:00Z',
      '2031-05-14T09:59:59.999Z',
      '2031-05-14T00:00:00Z',
      '2031-05-13T23:59:59.999Z',
      '2031-05-12T00:00:00Z',
      '2031-05-11T23:59:59.999Z',
      '2031-05-01T00:00:00Z',
      '2031-04-30T23:59:59.999Z',
    ]
    await use(tenant, times)
    const seen = []
    for (const window of ['hour', 'day', 'week', 'month']) {
      const { json } = await create(tenant, { ...daily, window })
      const tokens = await create(tenant, { ...daily, window, metric: 'tokens' })
      seen.push([window, json.used, tokens.json.used, json.resets_at])
    }
    expect(seen).toEqual([
      ['hour', 1, 30, '2031-05-14T11:00:00.000Z'],
      ['day', 3, 90, '2031-05-15T00:00:00.000Z'],
      ['week', 5, 150, '2031-05-19T00:00:00.000Z'],
      ['month', 7, 210, '2031-06-01T00:00:00.000Z'],
    ])
    const { json } = await plane.call<List<Quota>>('GET', pathOf(tenant), { key: tenant.keys.viewer })
    const used = (metric: string) =>
      Object.fromEntries(json.data.filter(row => row.metric === metric).map(row => [row.window, row.used]))
    expect(used('requests')).toEqual({ hour: 1, day: 3, week: 5, month: 7 })
    expect(used('tokens')).toEqual({ hour: 30, day: 90, week: 150, month: 210 })
  })

  test("follows the calendar of the organization's time zone", async () => {
    const tenant = await plane.insertTenant('zone')
    await plane.database.db
      .updateTable('organizations')
      .set({ time_zone: 'Asia/Tokyo' })
      .where('id', '=', tenant.organization.id)
      .execute()
    await use(tenant, ['2031-05-13T15:00:00Z', '2031-05-13T14:59:59Z'])
    const { json } = await create(tenant, daily)
    expect([json.used, json.resets_at]).toEqual([1, '2031-05-14T15:00:00.000Z'])
  })

  test('counts its scope only: a key or an end user, not the sibling environment nor another tenant', async () => {
    const tenant = await plane.insertTenant('scopes')
    const other = await plane.insertTenant('other')
    const keyId = (await plane.insertApiKey(tenant)).row.id
    const user = { external_id: 'alice', attributes: {} }
    await plane.call('POST', `/v1/environments/${tenant.development.id}/end-users`, {
      key: tenant.keys.developer,
      body: user,
    })
    const at = '2031-05-14T10:00:00Z'
    await use(tenant, [at, at], { key_id: keyId })
    await use(tenant, [at, at, at], { end_user_id: 'alice' })
    await use(other, [at], { end_user_id: 'alice' })
    await use(tenant, [at], { environment_id: tenant.production.id, end_user_id: 'alice' })
    const usedBy = async (scope: string, scope_ref?: string) =>
      (await create(tenant, { ...daily, scope, scope_ref })).json.used
    expect(await usedBy('key', keyId)).toBe(2)
    expect(await usedBy('end_user', 'alice')).toBe(3)
    expect(await usedBy('environment')).toBe(5)
    // Every end user has this quota separately.
    expect(await usedBy('default_end_user')).toBeNull()
  })

  test('excludes requests that were rejected, or failed without output', async () => {
    const tenant = await plane.insertTenant('refused')
    const nothing = {
      uncached_input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
    }
    const at = '2031-05-14T10:00:00Z'
    await use(tenant, [at], { status: 429, ...nothing })
    await use(tenant, [at], { status: 503, ...nothing })
    await use(tenant, [at], { status: 400, error_code: 'request_canceled' })
    await use(tenant, [at])
    expect((await create(tenant, daily)).json.used).toBe(2)
  })
})

test.each([1000.5, 1e15, Number.MAX_VALUE, 5e-324])('accepts a grace_pct of %d', async grace_pct => {
  const tenant = await plane.insertTenant('generous')
  const made = await create(tenant, { ...daily, grace_pct })
  expect([made.outcome, made.json.grace_pct]).toEqual(['201', grace_pct])
})

test('rejects a grace_pct that is not finite with 400 invalid_request', async () => {
  const tenant = await plane.insertTenant('endless')
  const raw = JSON.stringify({ ...daily, grace_pct: 1 }).replace('"grace_pct":1', '"grace_pct":1e999')
  const path = `/v1/environments/${tenant.development.id}/quotas`
  const headers = { 'content-type': 'application/json' }
  const { outcome } = await plane.call('POST', path, { key: tenant.keys.developer, raw, headers })
  expect(outcome).toBe('400 invalid_request grace_pct')
})

test.each([
  [{ scope: 'project' }, 'scope'],
  [{ scope: 'key' }, 'scope_ref'],
  [{ scope_ref: 'x' }, 'scope_ref'],
  [{ metric: 'concurrency' }, 'metric'],
  [{ window: 'total' }, 'window'],
  [{ limit: -1 }, 'limit'],
  [{ grace_pct: -0.1 }, 'grace_pct'],
  [{ grace_pct: '5' }, 'grace_pct'],
  [{ used: 0 }, 'used'],
])('400 invalid_request: %j', async (change, param) => {
  const tenant = await plane.insertTenant('bad')
  expect((await create(tenant, { ...daily, ...change })).outcome).toBe(`400 invalid_request ${param}`)
})
