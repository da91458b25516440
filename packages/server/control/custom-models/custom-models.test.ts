import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { CustomModelResource } from './custom-model-resource.ts'

type CustomModelRecord = z.output<typeof CustomModelResource>

const PRICING = { input_usd_per_mtok: 0.15, output_usd_per_mtok: 0.6 }

let plane: ControlPlane
let tenant: Tenant
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/custom-models`
})
afterAll(() => plane.close())

type Role = 'viewer' | 'developer' | 'admin'
let made = 0
const valid = () => ({ model: `custom/model-${made++}`, capabilities: ['chat'] })
const create = (fields: object = {}, by: Role = 'admin') =>
  plane.call<CustomModelRecord>('POST', path, {
    key: tenant.keys[by],
    body: { ...valid(), ...fields },
  })
const change = (id: string, body: unknown, by: Role = 'admin') =>
  plane.call<CustomModelRecord>('PATCH', `/v1/custom-models/${id}`, { key: tenant.keys[by], body })
const remove = (id: string, by: Role = 'admin') =>
  plane.call('DELETE', `/v1/custom-models/${id}`, { key: tenant.keys[by] })

test('a model is created, listed, changed and removed', async () => {
  const { status, json } = await create({
    model: 'openai/ft:gpt-4o:acme',
    capabilities: ['chat', 'tools', 'chat'],
    context_window: 128_000,
    pricing: PRICING,
  })
  const now = new Date(plane.clock.now()).toISOString()
  expect([status, json]).toEqual([
    201,
    {
      id: expect.any(String),
      project_id: tenant.project.id,
      environment_id: tenant.development.id,
      model: 'openai/ft:gpt-4o:acme',
      capabilities: ['chat', 'tools'],
      context_window: 128_000,
      max_output_tokens: null,
      pricing: { ...PRICING, cached_input_usd_per_mtok: null, cache_write_usd_per_mtok: null },
      created_at: now,
      updated_at: now,
    },
  ])
  const listed = await plane.call<List<CustomModelRecord>>('GET', path, { key: tenant.keys.viewer })
  expect(listed.json.data).toEqual([json])
  plane.clock.advance(1000)
  const updated_at = new Date(plane.clock.now()).toISOString()
  const changed = await change(json.id, { context_window: null, pricing: null })
  expect(changed.json).toEqual({ ...json, context_window: null, pricing: null, updated_at })
  expect((await remove(json.id)).status).toBe(204)
  expect((await remove(json.id)).outcome).toBe('404 resource_not_found')
})

describe('only administrators set prices', () => {
  test('403 insufficient_role: a developer sets no price and replaces none of the catalogue', async () => {
    expect((await create({ pricing: PRICING }, 'developer')).outcome).toBe('403 insufficient_role')
    expect((await create({ model: 'openai/gpt-4o' }, 'developer')).outcome).toBe('403 insufficient_role')
    expect((await create({ pricing: null }, 'developer')).status).toBe(201)
  })

  test('403 insufficient_role: a developer changes, moves and removes no price', async () => {
    const priced = (await create({ pricing: PRICING })).json
    const unpriced = (await create()).json
    for (const body of [{ pricing: null }, { pricing: PRICING }, { model: 'custom/other' }]) {
      expect((await change(priced.id, body, 'developer')).outcome).toBe('403 insufficient_role')
    }
    expect((await change(unpriced.id, { model: 'openai/gpt-4o' }, 'developer')).outcome).toBe(
      '403 insufficient_role',
    )
    expect((await remove(priced.id, 'developer')).outcome).toBe('403 insufficient_role')
    // It hides the price of the catalogue, which would apply again.
    const hiding = (await create({ model: 'openai/gpt-4o' })).json
    expect((await change(hiding.id, { model: 'custom/moved' }, 'developer')).outcome).toBe(
      '403 insufficient_role',
    )
    expect((await remove(hiding.id, 'developer')).outcome).toBe('403 insufficient_role')
    expect((await remove(hiding.id)).status).toBe(204)
    const same = { model: priced.model, context_window: 5 }
    expect((await change(priced.id, same, 'developer')).json).toMatchObject({
      context_window: 5,
      pricing: PRICING,
    })
    expect((await remove(unpriced.id, 'developer')).status).toBe(204)
  })
})

test('rejects a second record for a model in an environment with 409 resource_conflict', async () => {
  const first = (await create()).json
  const second = (await create()).json
  expect((await create({ model: first.model })).outcome).toBe('409 resource_conflict model')
  expect((await change(second.id, { model: first.model })).outcome).toBe('409 resource_conflict model')
})

test.each([
  [{ model: 'gpt-4o' }, 'model'],
  [{ model: 'nobody/x' }, 'model'],
  [{ model: 'openai/' }, 'model'],
  [{ model: '/x' }, 'model'],
  [{ capabilities: [] }, 'capabilities'],
  [{ capabilities: ['flight'] }, 'capabilities[0]'],
  [{ context_window: 0 }, 'context_window'],
  [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
  [{ pricing: {} }, 'pricing.input_usd_per_mtok'],
  [{ pricing: { input_usd_per_mtok: 1 } }, 'pricing.output_usd_per_mtok'],
  [{ pricing: { output_usd_per_mtok: 1 } }, 'pricing.input_usd_per_mtok'],
  [{ pricing: { ...PRICING, input_usd_per_mtok: -1 } }, 'pricing.input_usd_per_mtok'],
  [{ pricing: { ...PRICING, input_usd_per_mtok: 0.1234567 } }, 'pricing.input_usd_per_mtok'],
  [{ pricing: { ...PRICING, cached: 1 } }, 'pricing.cached'],
  [{ price: 1 }, 'price'],
])('400 invalid_request, for a new record, one with a price and one without: %j', async (fields, param) => {
  expect((await create(fields)).outcome).toBe(`400 invalid_request ${param}`)
  for (const pricing of [PRICING, null]) {
    const { json } = await create({ pricing })
    expect((await change(json.id, fields)).outcome).toBe(`400 invalid_request ${param}`)
  }
})

// Earlier versions stored any name to which a record with a price was renamed.
test.each(['gpt-4o', '/x', 'nobody/x'])(
  'a stored record with the name %s can be renamed and deleted',
  async name => {
    const { id } = (await create()).json
    const storeName = () =>
      plane.database.pool.query('update custom_models set model = $1 where id = $2', [name, id])
    await storeName()
    expect((await change(id, valid())).status).toBe(200)
    await storeName()
    expect((await remove(id)).status).toBe(204)
  },
)

test('a viewer and another organization have no access', async () => {
  const { json } = await create()
  const other = await plane.insertTenant('other')
  const one = `/v1/custom-models/${json.id}`
  for (const [method, at, body] of [
    ['PATCH', one, {}],
    ['DELETE', one, undefined],
    ['POST', path, valid()],
  ] as const) {
    const sent = body === undefined ? {} : { body }
    expect((await plane.call(method, at, { key: other.keys.admin, ...sent })).outcome).toBe(
      '404 resource_not_found',
    )
    expect((await plane.call(method, at, { key: tenant.keys.viewer, ...sent })).outcome).toBe(
      '403 insufficient_role',
    )
  }
})
