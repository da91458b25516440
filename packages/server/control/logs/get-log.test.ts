import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
import type { LogResource } from './log-resource.ts'

type LogRecord = z.output<typeof LogResource>

let plane: ControlPlane
let tenant: Tenant
let stored: RequestRecord
const at = Date.now() - 60_000
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  stored = requestRecord(tenant.development, plane.newId(), at, { endpoint: 'embeddings' })
  await insertRecords(plane.database.pool, [stored])
})
afterAll(() => plane.close())

describe('GET one request', () => {
  const get = (id: string, key: string) =>
    plane.call<LogRecord & { request_body: string | null; response_body: string | null }>(
      'GET',
      `/v1/logs/${id}`,
      { key },
    )

  test('returns bodies to developers and higher roles, and none to viewers', async () => {
    const id = stored.request_id
    for (const role of ['developer', 'admin'] as const) {
      expect((await get(id, tenant.keys[role])).json).toMatchObject({
        request_id: id,
        request_body: '{"secret":"prompt"}',
        response_body: '{"secret":"answer"}',
      })
    }
    const viewed = await get(id, tenant.keys.viewer)
    expect(viewed.json).toMatchObject({ request_id: id, request_body: null, response_body: null })
    expect(viewed.text).not.toContain('secret')
  })

  test("returns the tenant's own request if another tenant used the same request id", async () => {
    const other = await plane.insertTenant('other')
    const shared = plane.newId()
    const ours = requestRecord(tenant.development, plane.newId(), at, { request_id: shared })
    const theirs = requestRecord(other.development, plane.newId(), at + 5000, { request_id: shared })
    await insertRecords(plane.database.pool, [ours, theirs])
    expect((await get(shared, tenant.keys.viewer)).json.id).toBe(ours.id)
    expect((await get(shared, other.keys.viewer)).json.id).toBe(theirs.id)
  })

  test('tells dropped parameters and checked limits, and null for a record of an earlier version', async () => {
    const { id } = tenant.project
    const checked = {
      kind: 'budget',
      id,
      scope: 'project',
      metric: 'nano_usd',
      limit: 5e9,
      reserved: 2_500_000,
    } as const
    const told = requestRecord(tenant.development, plane.newId(), at, {
      dropped_params: ['seed', 'top_k'],
      checked_limits: [{ ...checked, remaining: 1_000_000_000 }],
    })
    await insertRecords(plane.database.pool, [told])
    expect((await get(told.request_id, tenant.keys.viewer)).json).toMatchObject({
      dropped_params: ['seed', 'top_k'],
      checked_limits: [
        { kind: 'budget', id, scope: 'project', metric: 'usd', limit: 5, reserved: 0.0025, remaining: 1 },
      ],
    })
    const earlier = await get(stored.request_id, tenant.keys.viewer)
    expect(earlier.json).toMatchObject({ dropped_params: null, checked_limits: null })
  })

  test('tells why there are no bodies', async () => {
    const id = stored.request_id
    expect((await get(id, tenant.keys.developer)).json).toMatchObject({ bodies: 'included' })
    expect((await get(id, tenant.keys.viewer)).json).toMatchObject({ bodies: 'role' })
    const none = { request_body: null, response_body: null }
    const bare = requestRecord(tenant.development, plane.newId(), at, none)
    await insertRecords(plane.database.pool, [bare])
    expect((await get(bare.request_id, tenant.keys.viewer)).json).toMatchObject({ bodies: 'not_captured' })
  })

  test("explains the cost by the model's prices where they give it, and else not", async () => {
    const key = tenant.keys.admin
    const pricing = { input_usd_per_mtok: 2.5, output_usd_per_mtok: 10, cached_input_usd_per_mtok: 0.5 }
    const model = { model: 'custom/own', capabilities: ['chat'], pricing }
    const path = `/v1/environments/${tenant.development.id}/custom-models`
    expect((await plane.call('POST', path, { key, body: model })).outcome).toBe('201')
    const own = { provider: 'custom', model: 'custom/own', cache_write_tokens: 0 }
    // 10 x 2,500 + 4 x 500 + 10 x 10,000 nano-dollars.
    const right = requestRecord(tenant.development, plane.newId(), at, { ...own, cost_nano_usd: 127_000 })
    const wrong = requestRecord(tenant.development, plane.newId(), at, { ...own, cost_nano_usd: 127_001 })
    const attempts = [{ ...(right.attempts[0] as (typeof right.attempts)[0]), start_ms: 1.5 }]
    await insertRecords(plane.database.pool, [{ ...right, attempts }, wrong])
    const { json } = await get(right.request_id, tenant.keys.viewer)
    expect(json).toMatchObject({
      cost_usd: 0.000127,
      cost_parts: [
        { kind: 'input', tokens: 10, usd_per_mtok: 2.5, cost_usd: 0.000025 },
        { kind: 'cache_read', tokens: 4, usd_per_mtok: 0.5, cost_usd: 0.000002 },
        { kind: 'output', tokens: 10, usd_per_mtok: 10, cost_usd: 0.0001 },
      ],
      attempts: [{ start_ms: 1.5, ms: 2, lost_cost_usd: null }],
    })
    expect((await get(wrong.request_id, tenant.keys.viewer)).json).toMatchObject({
      cost_parts: null,
      attempts: [{ start_ms: null }],
    })
  })
})
