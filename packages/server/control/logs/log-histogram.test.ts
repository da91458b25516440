import { afterAll, beforeAll, expect, test } from 'vitest'
import { countLogs } from '../../storage/records/log-histogram.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'

interface Histogram {
  readonly data: { readonly at: string; readonly requests: number; readonly errors: number }[]
  readonly bucket_seconds: number
  readonly from: string
  readonly is_complete: boolean
}

const HOUR_MS = 3_600_000
let plane: ControlPlane
let tenant: Tenant
let path: string
const from = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/logs/histogram`
  const records = [
    [0, {}],
    [59_999, { status: 429, error_code: 'rate_limit_exceeded' }],
    [60_000, { metadata: { tag: 'a' } }],
    [HOUR_MS - 1, { status: 503, error_code: 'provider_unavailable' }],
    [HOUR_MS, {}],
  ] as const
  await insertRecords(plane.database.pool, [
    ...records.map(([after, change]) =>
      requestRecord(tenant.development, plane.newId(), from + after, change),
    ),
    requestRecord(tenant.production, plane.newId(), from),
  ])
})
afterAll(() => plane.close())

const time = (after: number): string => new Date(from + after).toISOString()
async function count(query: string): Promise<Histogram> {
  const answer = await plane.call<Histogram>('GET', `${path}?${query}`, { key: tenant.keys.viewer })
  expect(answer.status).toBe(200)
  return answer.json
}

test('counts the requests of an hour by minute, with every quiet minute and without the next hour', async () => {
  const { data, ...rest } = await count(`from=${time(0)}&to=${time(HOUR_MS)}`)
  expect(rest).toEqual({ bucket_seconds: 60, from: time(0), to: time(HOUR_MS), is_complete: true })
  expect(data.length).toBe(60)
  expect(data.filter(({ requests }) => requests > 0)).toEqual([
    { at: time(0), requests: 2, errors: 1 },
    { at: time(60_000), requests: 1, errors: 0 },
    { at: time(HOUR_MS - 60_000), requests: 1, errors: 1 },
  ])
})

test.each([
  ['status=4xx', 1],
  ['error_code=provider_unavailable', 1],
  ['metadata.tag=a', 1],
  ['metadata.tag=b', 0],
  ['status=200', 3],
])('counts what the log lists for %s', async (filter, requests) => {
  const { data } = await count(`from=${time(0)}&to=${time(2 * HOUR_MS)}&${filter}`)
  expect(data.reduce((sum, each) => sum + each.requests, 0)).toBe(requests)
})

test.each([
  [HOUR_MS, 60],
  [24 * HOUR_MS, 1_800],
  [7 * 24 * HOUR_MS, 10_800],
  [30 * 24 * HOUR_MS, 43_200],
  [366 * 24 * HOUR_MS, 604_800],
])('a span of %i ms has buckets of %i s', async (spanMs, seconds) => {
  const { data, bucket_seconds } = await count(`from=${time(-spanMs)}&to=${time(0)}`)
  expect(bucket_seconds).toBe(seconds)
  expect(data.length).toBeLessThanOrEqual(61)
})

test('counts the last 24 hours unless told', async () => {
  const { data } = await count('')
  expect(data.reduce((sum, each) => sum + each.requests, 0)).toBe(5)
})

test('says that there are more than it counts', async () => {
  const { buckets, oldest } = await countLogs(plane.database.db, tenant.development.id, {}, 60_000, 2)
  expect(buckets.reduce((sum, { requests }) => sum + requests, 0)).toBe(2)
  expect(oldest?.toISOString()).toBe(time(HOUR_MS - 1))
})

test.each([
  ['limit=5', 'request_validation_failed limit'],
  ['cursor=x', 'request_validation_failed cursor'],
  ['status=9xx', 'request_validation_failed status'],
  [`from=${time(0)}&to=${time(-1)}`, 'request_validation_failed from'],
  [`from=${time(-367 * 24 * HOUR_MS)}`, 'request_validation_failed from'],
])('refuses %s', async (query, outcome) => {
  const answer = await plane.call('GET', `${path}?${query}`, { key: tenant.keys.viewer })
  expect(answer.outcome).toBe(`400 ${outcome}`)
})
