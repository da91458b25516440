import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
import type { EndUserResource } from './end-user-resource.ts'

type EndUser = z.output<typeof EndUserResource>

let plane: ControlPlane
let tenant: Tenant
let path: string
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
})
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/end-users`
  key = tenant.keys.developer
})
afterAll(() => plane.close())

const create = (body: object) => plane.call<EndUser>('POST', path, { key, body })
const patch = (id: string, body: object) => plane.call<EndUser>('PATCH', `/v1/end-users/${id}`, { key, body })
const createPlan = async (name: string, environmentId = tenant.development.id) => {
  const plans = `/v1/environments/${environmentId}/plans`
  return (await plane.call<{ id: string }>('POST', plans, { key, body: { name } })).json.id
}

test('an end user is created, read, listed, changed in part and removed', async () => {
  await createPlan('pro')
  const attributes = { country: 'NL', seats: 3, tags: ['a'] }
  const made = await create({ external_id: 'auth0|alice ü', plan: 'pro', attributes })
  const now = new Date(plane.clock.now()).toISOString()
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.any(String),
    project_id: tenant.project.id,
    environment_id: tenant.development.id,
    external_id: 'auth0|alice ü',
    plan: 'pro',
    attributes,
    blocked_at: null,
    last_seen_at: null,
    usage: { requests: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 },
    created_at: now,
    updated_at: now,
  })
  const one = `/v1/end-users/${made.json.id}`
  const viewer = { key: tenant.keys.viewer }
  expect((await plane.call('GET', one, viewer)).json).toEqual(made.json)
  expect((await plane.call<List<EndUser>>('GET', path, viewer)).json.data).toEqual([made.json])
  const changed = await patch(made.json.id, { attributes: { a: 1 } })
  expect(changed.json).toEqual({ ...made.json, attributes: { a: 1 } })
  const cleared = await patch(made.json.id, { plan: null, attributes: null, external_id: 'bob' })
  expect(cleared.json).toMatchObject({ plan: null, attributes: {}, external_id: 'bob' })
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('GET', one, { key })).outcome).toBe('404 resource_not_found')
})

describe('external_id', () => {
  test('409 resource_conflict if taken in this environment; free in its sibling', async () => {
    await create({ external_id: 'alice' })
    const { json } = await create({ external_id: 'bob' })
    expect((await create({ external_id: 'alice' })).outcome).toBe('409 resource_conflict external_id')
    expect((await patch(json.id, { external_id: 'alice' })).outcome).toBe('409 resource_conflict external_id')
    const sibling = `/v1/environments/${tenant.production.id}/end-users`
    const there = await plane.call('POST', sibling, { key, body: { external_id: 'alice' } })
    expect(there.status).toBe(201)
  })

  test.each(['', 'x'.repeat(256), 'a\u0000', 'a\nb', 'device:abc', 'member:1', 7, null])(
    '400 invalid_request: %j',
    async external_id => {
      expect((await create({ external_id })).outcome).toBe('400 invalid_request external_id')
      const { json } = await create({ external_id: 'fine' })
      expect((await patch(json.id, { external_id })).outcome).toBe('400 invalid_request external_id')
    },
  )
})

describe('attributes', () => {
  const padTo = (bytes: number) => ({ a: 'é'.repeat((bytes - 8) / 2) })

  test('accepts 4096 bytes of JSON; one more is 400 attributes_too_large', async () => {
    expect(Buffer.byteLength(JSON.stringify(padTo(4096)))).toBe(4096)
    const fits = await create({ external_id: 'a', attributes: padTo(4096) })
    expect(fits.json.attributes).toEqual(padTo(4096))
    const over = { ...padTo(4096), b: 1 }
    expect((await create({ external_id: 'b', attributes: over })).outcome).toBe(
      '400 attributes_too_large attributes',
    )
    expect((await patch(fits.json.id, { attributes: over })).outcome).toBe(
      '400 attributes_too_large attributes',
    )
  })

  test.each([[['a']], ['text'], [7], [{ a: 'x\u0000' }]])('400 invalid_request: %j', async attributes => {
    expect((await create({ external_id: 'a', attributes })).outcome).toBe('400 invalid_request attributes')
  })
})

describe('plan', () => {
  test('is set by name or id, and returned by name even after a rename', async () => {
    const id = await createPlan('pro')
    const made = await create({ external_id: 'a', plan: id })
    expect(made.json.plan).toBe('pro')
    await plane.call('PATCH', `/v1/plans/${id}`, { key, body: { name: 'max' } })
    expect((await patch(made.json.id, {})).json.plan).toBe('max')
    expect((await patch(made.json.id, { plan: 'max' })).json.plan).toBe('max')
  })

  test('400 invalid_request for a plan that the environment does not have', async () => {
    const elsewhere = await createPlan('pro', tenant.production.id)
    for (const plan of ['none', 'pro', elsewhere]) {
      expect((await create({ external_id: 'a', plan })).outcome).toBe('400 invalid_request plan')
    }
  })

  test('a removed plan leaves its end users without a plan', async () => {
    const id = await createPlan('pro')
    const made = await create({ external_id: 'a', plan: id })
    await plane.call('DELETE', `/v1/plans/${id}`, { key })
    expect((await patch(made.json.id, {})).json.plan).toBeNull()
  })
})

test('block and unblock return the record, and a second call changes nothing', async () => {
  const { json } = await create({ external_id: 'a' })
  const act = (action: string) => plane.call<EndUser>('POST', `/v1/end-users/${json.id}/${action}`, { key })
  plane.clock.advance(1000)
  const at = new Date(plane.clock.now()).toISOString()
  const blocked = await act('block')
  expect(blocked.status).toBe(200)
  expect(blocked.json).toEqual({ ...json, blocked_at: at, updated_at: at })
  plane.clock.advance(1000)
  expect((await act('block')).json).toEqual(blocked.json)
  const later = new Date(plane.clock.now()).toISOString()
  const free = await act('unblock')
  expect(free.json).toEqual({ ...json, blocked_at: null, updated_at: later })
  plane.clock.advance(1000)
  expect((await act('unblock')).json).toEqual(free.json)
})

test('usage and last_seen_at come from the ledger, for this environment only', async () => {
  const other = await plane.insertTenant('other')
  const alice = await create({ external_id: 'alice' })
  await create({ external_id: 'bob' })
  const start = plane.clock.now()
  const record = (at: number, change: object) =>
    requestRecord(tenant.development, plane.newId(), at, { end_user_id: 'alice', ...change })
  await insertRecords(plane.database.pool, [
    record(start - 100 * 86_400_000, { cost_nano_usd: 100_000_000 }),
    record(start - 1000, { cost_nano_usd: 200_000_000 }),
    record(start - 2000, { cost_nano_usd: null }),
    record(start, { end_user_id: null }),
    record(start, { environment_id: tenant.production.id }),
    requestRecord(other.development, plane.newId(), start, { end_user_id: 'alice' }),
  ])
  const { json } = await plane.call<List<EndUser>>('GET', path, { key })
  const seen = Object.fromEntries(json.data.map(user => [user.external_id, user]))
  expect(seen.alice).toMatchObject({
    last_seen_at: new Date(start - 1000).toISOString(),
    usage: { requests: 3, input_tokens: 48, output_tokens: 30, cost_usd: 0.3 },
  })
  expect(seen.bob).toMatchObject({
    last_seen_at: null,
    usage: { requests: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 },
  })
  expect((await plane.call('GET', `/v1/end-users/${alice.json.id}`, { key })).json).toEqual(seen.alice)
})

test('end users are found by the beginning of their name, by name, by plan and by being blocked', async () => {
  await createPlan('pro')
  for (const external_id of ['ann_1', 'annx1', 'Ann', 'bob%']) await create({ external_id })
  const { json } = await create({ external_id: 'annex', plan: 'pro' })
  await plane.call('POST', `/v1/end-users/${json.id}/block`, { key })
  const find = async (query: string) => {
    const found = await plane.call<List<EndUser>>('GET', `${path}?${query}`, { key: tenant.keys.viewer })
    return found.status === 200 ? found.json.data.map(({ external_id }) => external_id).sort() : found.outcome
  }
  expect(await find('q=ann')).toEqual(['ann_1', 'annex', 'annx1'])
  expect(await find('q=ann_')).toEqual(['ann_1'])
  expect(await find('q=bob%25')).toEqual(['bob%'])
  expect(await find('q=%5C')).toEqual([])
  expect(await find('external_id=annx1')).toEqual(['annx1'])
  expect(await find('external_id=annx')).toEqual([])
  expect(await find('plan=pro')).toEqual(['annex'])
  expect(await find('blocked=true')).toEqual(['annex'])
  expect(await find('q=ann&blocked=false')).toEqual(['ann_1', 'annx1'])
  expect(await find('blocked=yes')).toBe('400 request_validation_failed blocked')
  const { next_cursor } = (await plane.call<List<EndUser>>('GET', `${path}?q=ann&limit=1`, { key })).json
  expect(await find(`q=ann&limit=1&cursor=${next_cursor}`)).toHaveLength(1)
  expect(await find(`q=an&limit=1&cursor=${next_cursor}`)).toBe('400 invalid_request cursor')
})

describe('the order of end users', () => {
  const listAll = async (query: string): Promise<string[]> => {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const { json } = await plane.call<List<EndUser>>('GET', `${path}?${query}&limit=2${cursor}`, { key })
      seen.push(...json.data.map(({ external_id }) => external_id))
      if (json.next_cursor === null) return seen
      cursor = `&cursor=${json.next_cursor}`
    }
  }

  test('is by creation, either way, or by name, over pages', async () => {
    for (const external_id of ['b', 'd', 'a', 'e', 'c']) {
      await create({ external_id })
      plane.clock.advance(1000)
    }
    expect(await listAll('')).toEqual(['c', 'e', 'a', 'd', 'b'])
    expect(await listAll('order=-created_at')).toEqual(['c', 'e', 'a', 'd', 'b'])
    expect(await listAll('order=created_at')).toEqual(['b', 'd', 'a', 'e', 'c'])
    expect(await listAll('order=external_id')).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('a page by name does not end the list early when the end user before it was removed', async () => {
    const made = await Promise.all(['a', 'b', 'c'].map(external_id => create({ external_id })))
    const first = await plane.call<List<EndUser>>('GET', `${path}?order=external_id&limit=1`, { key })
    await plane.call('DELETE', `/v1/end-users/${made[0]?.json.id}`, { key })
    const next = `${path}?order=external_id&limit=1&cursor=${first.json.next_cursor}`
    expect((await plane.call('GET', next, { key })).outcome).toBe('400 invalid_request cursor')
    expect((await plane.call('GET', `${path}?order=name`, { key })).outcome).toBe(
      '400 request_validation_failed order',
    )
  })
})
