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
import type { UsageResource } from './usage-resource.ts'

type Usage = z.output<typeof UsageResource>

let plane: ControlPlane
let tenant: Tenant
let today: Date
let paths: { org: string; project: string; development: string; production: string }
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  paths = {
    org: `/v1/orgs/${tenant.organization.id}/usage`,
    project: `/v1/projects/${tenant.project.id}/usage`,
    development: `/v1/environments/${tenant.development.id}/usage`,
    production: `/v1/environments/${tenant.production.id}/usage`,
  }
  const now = plane.clock.now()
  today = new Date(new Date(now).toISOString().slice(0, 10))
  const real: Partial<RequestRecord> = { sandbox: false, provider: 'openai', model: 'gpt-x', total_ms: 1000 }
  const at = (daysAgo: number) => today.getTime() - daysAgo * 86_400_000
  await insertRecords(plane.database.pool, [
    requestRecord(tenant.production, plane.newId(), at(0), { ...real, end_user_id: 'ann' }),
    requestRecord(tenant.production, plane.newId(), at(0), { ...real, status: 503, cost_nano_usd: 0 }),
    requestRecord(tenant.production, plane.newId(), at(1), { ...real, model: 'new', cost_nano_usd: null }),
    requestRecord(tenant.development, plane.newId(), at(0)),
    requestRecord(tenant.production, plane.newId(), at(100), real),
  ])
})
afterAll(() => plane.close())

const call = (path: string, query = '') =>
  plane.call<List<Usage>>('GET', `${path}?${query}`, { key: tenant.keys.viewer })
const list = async (path: string, query = ''): Promise<Usage[]> => {
  const { outcome, json } = await call(path, query)
  expect(outcome).toBe('200')
  return json.data
}

describe('usage', () => {
  test('defaults to 30 days by day, with every field of each row', async () => {
    const [latest, before, ...others] = await list(paths.production)
    expect(others).toEqual([])
    expect(latest).toEqual({
      bucket: today.toISOString(),
      other: null,
      sandbox: false,
      requests: 2,
      errors: 1,
      input_tokens: 32,
      output_tokens: 20,
      cached_tokens: 8,
      cost_usd: 0.001234567,
      unpriced_requests: 0,
      latency_ms_p50: expect.any(Number),
      latency_ms_p95: expect.any(Number),
      reasoning_tokens: 6,
      // Neither was a stream.
      first_byte_ms_p50: null,
      first_byte_ms_p95: null,
    })
    expect(Math.abs((latest?.latency_ms_p50 ?? 0) / 1000 - 1)).toBeLessThan(0.131)
    // An unknown price is not the same as zero.
    expect(before).toMatchObject({ requests: 1, cost_usd: null, unpriced_requests: 1 })
  })

  test("marks the sandbox and excludes it from the organization's cost", async () => {
    expect(await list(paths.development)).toMatchObject([
      { sandbox: true, requests: 1, cost_usd: 0.001234567 },
    ])
    const ofOrganization = (await list(paths.org)).filter(row => row.sandbox)
    expect(ofOrganization).toMatchObject([{ requests: 1, cost_usd: 0 }])
    const ofProject = await list(paths.project)
    expect(ofProject.map(row => [row.sandbox, row.requests]).sort()).toEqual([
      [false, 1],
      [false, 2],
      [true, 1],
    ])
  })

  test('returns the fields of the requested groups and omits the others', async () => {
    const rows = await list(paths.org, 'group_by=model,end_user,environment,provider,key')
    const ann = rows.find(row => row.end_user_id === 'ann')
    expect(ann).toMatchObject({
      model: 'gpt-x',
      provider: 'openai',
      key_id: null,
      environment_id: tenant.production.id,
      requests: 1,
    })
    expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(4)
    const [row] = await list(paths.org, 'group_by=model')
    expect(row).toHaveProperty('model')
    expect(row).not.toHaveProperty('provider')
  })

  test('includes the whole bucket that from falls into', async () => {
    const noon = new Date(today.getTime() + 43_200_000).toISOString()
    expect(await list(paths.production, `from=${noon}&to=${noon}`)).toMatchObject([{ requests: 2 }])
    const quarter = `from=${new Date(today.getTime() - 120 * 86_400_000).toISOString()}`
    expect((await list(paths.production, quarter)).map(row => row.requests)).toEqual([2, 1, 1])
    expect(await list(paths.production, `granularity=hour&to=${today.toISOString()}`)).toMatchObject([
      { bucket: new Date(today.getTime() - 86_400_000).toISOString(), requests: 1 },
    ])
  })

  test('names the groups that cost most and sums the others, with equal sums', async () => {
    const rows = await list(paths.org, 'group_by=model&top=1')
    expect(rows.map(({ model, other, sandbox, requests }) => [model, other, sandbox, requests])).toEqual(
      expect.arrayContaining([
        ['gpt-x', null, false, 2],
        [null, true, false, 1],
        [null, true, true, 1],
      ]),
    )
    expect(rows).toHaveLength(3)
    const byProject = await list(paths.org, 'group_by=project&top=5&rows=10000')
    expect(byProject.every(({ project_id }) => project_id === tenant.project.id)).toBe(true)
    expect(byProject.reduce((sum, row) => sum + row.requests, 0)).toBe(4)
  })

  test('filters by what answered and who asked', async () => {
    expect(await list(paths.org, 'model=new')).toMatchObject([{ requests: 1 }])
    expect(await list(paths.org, 'end_user_id=ann&provider=openai')).toMatchObject([{ requests: 1 }])
    expect(await list(paths.org, `key_id=${tenant.project.id}`)).toEqual([])
  })

  test('lists every row once over pages', async () => {
    const seen: Usage[] = []
    let query = 'limit=1&group_by=model'
    for (;;) {
      const { json } = await call(paths.org, query)
      seen.push(...json.data)
      if (json.next_cursor === null) break
      query = `limit=1&group_by=model&cursor=${json.next_cursor}`
    }
    expect(seen).toEqual(await list(paths.org, 'group_by=model'))
    const { json } = await call(paths.org, 'limit=1')
    expect((await call(paths.project, `limit=1&cursor=${json.next_cursor}`)).outcome).toBe(
      '400 invalid_request cursor',
    )
  })

  test('lists a series of the length that rows names, and continues it by its cursor', async () => {
    const all = await list(paths.org, 'group_by=model&rows=10000')
    expect(all.length).toBeGreaterThan(2)
    const { json } = await call(paths.org, 'group_by=model&rows=2')
    expect(json.data).toEqual(all.slice(0, 2))
    const next = await call(paths.org, `group_by=model&rows=10000&cursor=${json.next_cursor}`)
    expect(next.json.data).toEqual(all.slice(2))
  })

  test.each([
    ['group_by=colour', 'request_validation_failed group_by'],
    ['group_by=', 'request_validation_failed group_by'],
    ['granularity=week', 'request_validation_failed granularity'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'request_validation_failed from'],
    ['from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'request_validation_failed from'],
    ['top=5', 'request_validation_failed top'],
    ['limit=101&group_by=model', 'request_validation_failed limit'],
    ['rows=10001&group_by=model', 'request_validation_failed rows'],
    ['rows=0', 'request_validation_failed rows'],
    ['rows=100&limit=100', 'request_validation_failed rows'],
    [
      'group_by=end_user&top=5&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
      'request_validation_failed from',
    ],
    ['time_zone=Mars/Olympus', 'request_validation_failed time_zone'],
    ['time_zone=%2B02:00', 'request_validation_failed time_zone'],
    [
      'time_zone=Asia/Kolkata&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
      'request_validation_failed from',
    ],
    ['colour=red', 'request_validation_failed colour'],
  ])('400 %s', async (query, outcome) => {
    expect((await call(paths.org, query)).outcome).toBe(`400 ${outcome}`)
  })
})
