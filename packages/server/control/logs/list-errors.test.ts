import { afterAll, beforeAll, expect, test } from 'vitest'
import { countErrors } from '../../storage/records/error-counts.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'

let plane: ControlPlane
let tenant: Tenant
let path: string
let newest: string
let now: number
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('failing')
  path = `/v1/environments/${tenant.production.id}/errors`
  now = plane.clock.now()
  const failed = (minutesAgo: number, error_code: string, provider: string, status = 500) =>
    requestRecord(tenant.production, plane.newId(), now - minutesAgo * 60_000, {
      status,
      error_code,
      provider,
    })
  const records = [
    failed(1, 'provider_error', 'openai'),
    failed(5, 'provider_error', 'azure'),
    failed(9, 'provider_error', 'openai'),
    failed(3, 'stream_interrupted', 'openai', 200),
    failed(25 * 60, 'rate_limit_exceeded', 'openai', 429),
    requestRecord(tenant.production, plane.newId(), now - 60_000),
    requestRecord(tenant.development, plane.newId(), now, { status: 500, error_code: 'internal_error' }),
  ]
  newest = records[0]?.request_id ?? ''
  await insertRecords(plane.database.pool, records)
})
afterAll(() => plane.close())

const get = (query = '', by = tenant) => plane.call<any>('GET', `${path}?${query}`, { key: by.keys.viewer })

test('failed requests of the last day are counted by code, with the latest of each', async () => {
  const { outcome, json } = await get()
  expect(outcome).toBe('200')
  expect(json).toEqual({
    data: [
      {
        error_code: 'provider_error',
        requests: 3,
        last_at: new Date(now - 60_000).toISOString(),
        request_id: newest,
      },
      {
        error_code: 'stream_interrupted',
        requests: 1,
        last_at: new Date(now - 180_000).toISOString(),
        request_id: expect.any(String),
      },
    ],
    from: new Date(now - 86_400_000).toISOString(),
    to: new Date(now).toISOString(),
    is_complete: true,
    has_more: false,
    next_cursor: null,
  })
})

test('they are counted apart by provider, and over a longer time', async () => {
  const { json } = await get('group_by=provider')
  expect(json.data.map((row: any) => [row.error_code, row.provider, row.requests])).toEqual([
    ['provider_error', 'openai', 2],
    ['stream_interrupted', 'openai', 1],
    ['provider_error', 'azure', 1],
  ])
  const week = await get(`from=${new Date(now - 7 * 86_400_000).toISOString()}`)
  expect(week.json.data.map((row: any) => row.error_code)).toContain('rate_limit_exceeded')
})

test('they are listed in pages by limit and cursor, in the order of the whole list', async () => {
  const whole = (await get('group_by=provider')).json
  const first = (await get('group_by=provider&limit=2')).json
  expect(first).toMatchObject({ data: whole.data.slice(0, 2), has_more: true, is_complete: true })
  const rest = (await get(`group_by=provider&limit=2&cursor=${first.next_cursor}`)).json
  expect(rest).toMatchObject({ data: whole.data.slice(2), has_more: false, next_cursor: null })
  expect((await get(`cursor=${first.next_cursor}`)).outcome).toBe('400 invalid_request cursor')
})

test('more failures than are read are told by the time since which they are counted', async () => {
  const filter = {
    environmentId: tenant.production.id,
    from: new Date(now - 86_400_000),
    to: new Date(now + 1),
    groups: [],
  }
  const { rows, oldest } = await countErrors(plane.database.db, filter, 2)
  expect(rows.map(row => [row.error_code, row.requests])).toEqual([
    ['provider_error', 1],
    ['stream_interrupted', 1],
  ])
  expect(oldest).toEqual(new Date(now - 180_000))
})

test('400 for a time that is too long, and 404 for another tenant', async () => {
  expect((await get('from=2020-01-01T00:00:00Z')).outcome).toBe('400 request_validation_failed from')
  expect((await get('group_by=key')).outcome).toBe('400 request_validation_failed group_by')
  expect((await get('', await plane.insertTenant('elsewhere'))).outcome).toBe('404 resource_not_found')
})
