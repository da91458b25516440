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

const NOW = Date.parse('2031-04-02T12:00:00Z')

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  plane.clock.advance(NOW - plane.clock.now())
  tenant = await plane.insertTenant('zones')
  await plane.database.pool.query(`update organizations set time_zone = 'Europe/Berlin' where id = $1`, [
    tenant.organization.id,
  ])
  const at = (time: string, change: Partial<RequestRecord> = {}) =>
    requestRecord(tenant.production, plane.newId(), Date.parse(time), {
      sandbox: false,
      model: 'm',
      total_ms: 1000,
      ...change,
    })
  await insertRecords(plane.database.pool, [
    // Berlin's clocks are set forward on 30 March 2031: that day has 23 hours and ends at 22:00 UTC.
    at('2031-03-29T22:59:59Z'),
    // A stream that failed before its first byte has no such time.
    at('2031-03-29T23:00:00Z', { stream: true, first_byte_ms: null }),
    at('2031-03-30T21:59:59Z', { model: '=cmd|calc', stream: true, first_byte_ms: 400 }),
    at('2031-03-30T22:00:00Z', { stream: true, first_byte_ms: 4000 }),
    // 31 March ends in Kolkata at 18:30 UTC, and 1 April in Kathmandu at 18:15.
    at('2031-03-31T18:29:59Z'),
    at('2031-03-31T18:30:00Z'),
    at('2031-04-01T18:14:59Z'),
    at('2031-04-01T18:15:00Z'),
  ])
})
afterAll(() => plane.close())

const call = (query: string, headers = {}) =>
  plane.call<List<Usage> & { readonly as_of: string }>(
    'GET',
    `/v1/environments/${tenant.production.id}/usage?from=2031-03-29T00:00:00Z&to=2031-04-02T12:00:00Z&${query}`,
    { key: tenant.keys.viewer, headers },
  )
const list = async (query: string) => {
  const { outcome, json } = await call(query)
  expect(outcome).toBe('200')
  return json.data.map(({ bucket, requests }) => [bucket, requests])
}

describe('usage by time zone', () => {
  test('days are those of the named zone, also where its clocks differ from UTC by a part of an hour', async () => {
    const berlin = [
      ['2031-03-31T22:00:00.000Z', 2],
      ['2031-03-30T22:00:00.000Z', 3],
      ['2031-03-29T23:00:00.000Z', 2],
      ['2031-03-28T23:00:00.000Z', 1],
    ]
    expect(await list('')).toEqual(berlin)
    expect(await list('time_zone=Europe/Berlin')).toEqual(berlin)
    expect(await list('time_zone=europe/BERLIN')).toEqual(berlin)
    expect(await list('time_zone=UTC')).toEqual([
      ['2031-04-01T00:00:00.000Z', 2],
      ['2031-03-31T00:00:00.000Z', 2],
      ['2031-03-30T00:00:00.000Z', 2],
      ['2031-03-29T00:00:00.000Z', 2],
    ])
    expect(await list('time_zone=Asia/Kolkata')).toEqual([
      ['2031-03-31T18:30:00.000Z', 3],
      ['2031-03-30T18:30:00.000Z', 3],
      ['2031-03-29T18:30:00.000Z', 2],
    ])
  })

  test('a name that PostgreSQL takes for an offset is the zone that it links to', async () => {
    expect(await list('time_zone=CET')).toEqual(await list('time_zone=Europe/Brussels'))
  })

  test.each(['AET', 'SystemV/EST5', 'Mars/Olympus'])(
    '400 for %s, which PostgreSQL does not know',
    async zone => {
      expect((await call(`time_zone=${zone}`)).outcome).toBe('400 request_validation_failed time_zone')
    },
  )

  test('hours begin with those of the named zone', async () => {
    expect((await list('granularity=hour&time_zone=Asia/Kathmandu')).slice(0, 2)).toEqual([
      ['2031-04-01T18:15:00.000Z', 1],
      ['2031-04-01T17:15:00.000Z', 1],
    ])
    expect((await list('granularity=hour&limit=3')).map(([bucket]) => bucket)).toEqual([
      '2031-04-01T18:00:00.000Z',
      '2031-03-31T18:00:00.000Z',
      '2031-03-30T22:00:00.000Z',
    ])
  })

  test('months and totals are sums of the days, and percentiles those of the whole time', async () => {
    expect(await list('granularity=month')).toEqual([
      ['2031-03-31T22:00:00.000Z', 2],
      ['2031-02-28T23:00:00.000Z', 6],
    ])
    const { json } = await call('granularity=total')
    expect(json.data).toMatchObject([{ bucket: '2031-03-29T00:00:00.000Z', requests: 8 }])
    const [row] = json.data
    expect(Math.abs((row?.first_byte_ms_p50 ?? 0) / 400 - 1)).toBeLessThan(0.131)
    expect(Math.abs((row?.first_byte_ms_p95 ?? 0) / 4000 - 1)).toBeLessThan(0.131)
    expect(json.as_of).toBe(new Date(NOW).toISOString())
  })

  test('pages of hours return every row once', async () => {
    const seen: unknown[] = []
    let cursor = ''
    for (;;) {
      const { json } = await call(`granularity=hour&time_zone=Asia/Kolkata&limit=2${cursor}`)
      seen.push(...json.data.map(row => [row.bucket, row.requests]))
      if (json.next_cursor === null) break
      cursor = `&cursor=${json.next_cursor}`
    }
    expect(seen).toEqual(await list('granularity=hour&time_zone=Asia/Kolkata'))
  })
})

describe('empty buckets', () => {
  test('have a row of zeros for each group, and the day of the change of the clocks is there once', async () => {
    expect(await list('fill=zero')).toEqual([
      ['2031-04-01T22:00:00.000Z', 0],
      ['2031-03-31T22:00:00.000Z', 2],
      ['2031-03-30T22:00:00.000Z', 3],
      ['2031-03-29T23:00:00.000Z', 2],
      ['2031-03-28T23:00:00.000Z', 1],
    ])
    const hours = await list('fill=zero&granularity=hour&time_zone=Asia/Kathmandu')
    expect(hours).toHaveLength(4 * 24 + 13)
    expect(hours.reduce((sum, [, requests]) => sum + Number(requests), 0)).toBe(8)
    const { json } = await call('fill=zero&group_by=model')
    expect(json.data).toHaveLength(10)
    expect(json.data.filter(({ model }) => model === '=cmd|calc').map(({ requests }) => requests)).toEqual([
      0, 0, 0, 1, 0,
    ])
    expect(json.data.find(({ requests }) => requests === 0)).toMatchObject({
      cost_usd: null,
      latency_ms_p95: null,
    })
  })

  test('are there for times without requests', async () => {
    const empty = await plane.call<List<Usage>>(
      'GET',
      `/v1/environments/${tenant.development.id}/usage?fill=zero&from=2031-04-01T12:00:00Z`,
      { key: tenant.keys.viewer },
    )
    expect(empty.json.data.map(({ requests, sandbox }) => [requests, sandbox])).toEqual([
      [0, false],
      [0, false],
    ])
  })
})

describe('as CSV', () => {
  const csv = { Accept: 'text/csv' }

  test('a page is a file with the columns of its rows, without formulas', async () => {
    const { headers, text } = await call('group_by=model', csv)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage.csv"')
    const [head, ...lines] = text.trimEnd().split('\r\n')
    expect(head?.split(',').slice(0, 5)).toEqual(['bucket', 'model', 'other', 'sandbox', 'requests'])
    expect(lines).toHaveLength(5)
    expect(lines.filter(line => line.includes("'=cmd|calc"))).toHaveLength(1)
    expect(lines.every(line => line.split(',').length === head?.split(',').length)).toBe(true)
  })

  test('names the cursor of the next page, and JSON stays the default', async () => {
    const { headers, text } = await call('limit=1', csv)
    expect(text.trimEnd().split('\r\n')).toHaveLength(2)
    const next = await call(`limit=1&cursor=${headers.get('x-rideau-next-cursor')}`)
    expect(next.json.data).toMatchObject([{ requests: 3 }])
    for (const Accept of ['*/*', 'application/json', 'text/csv;q=0', 'text/csv;q=0.5, application/json']) {
      expect((await call('limit=1', { Accept })).headers.get('content-type')).toMatch(/^application\/json/)
    }
  })
})
