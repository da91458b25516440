import { expect, test } from 'vitest'
import type { UsageRow } from '../../storage/usage/usage.ts'
import type { UsageFilter } from '../../storage/usage/usage-filter.ts'
import { fillUsage } from './fill-usage.ts'

const DAY_MS = 86_400_000

test('makes 366 days of hours from nothing, at most a row in each piece of the work', () => {
  const to = new Date('2026-11-26T00:00:00Z')
  const filter: UsageFilter = {
    orgId: 'o',
    from: new Date(to.getTime() - 366 * DAY_MS),
    to,
    granularity: 'hour',
    timeZone: 'Europe/Berlin',
    isByQuarter: true,
    groups: [],
    only: {},
  }
  const work = fillUsage([], filter, 10_000)
  let pieces = 0
  let next = work.next()
  for (; next.done !== true; next = work.next()) pieces++
  expect(next.value).toHaveLength(366 * 24)
  expect(next.value?.[0]).toMatchObject({ bucket: new Date(to.getTime() - 3_600_000), requests: 0 })
  // One for each hour that is looked for, and one for each row.
  expect(pieces).toBeGreaterThanOrEqual(2 * 366 * 24)
})

test('takes at most a row in each piece of the work, also of 10,000 groups in one bucket', () => {
  const from = new Date('2026-11-26T00:00:00Z')
  const to = new Date(from.getTime() + DAY_MS)
  const filter: UsageFilter = { orgId: 'o', from, to, granularity: 'total', groups: ['model'], only: {} }
  const rows = Array.from({ length: 10_000 }, (_, index) => toRow(`id-${index}`, from))
  const work = fillUsage(rows, filter, 10_000)
  let pieces = 0
  let next = work.next()
  for (; next.done !== true; next = work.next()) pieces++
  expect(next.value).toEqual(rows)
  // One for each row that is read, and one for each that is made.
  expect(pieces).toBeGreaterThanOrEqual(20_000)
})

function toRow(id: string, bucket: Date): UsageRow {
  const counts = { requests: 1, errors: 0, unpriced: 0, inputTokens: 1, outputTokens: 1, cachedTokens: 0 }
  const histograms = { latencies: '{1}', firstBytes: '{0}' }
  const shown = { groups: { model: id }, sandbox: false, isRest: false }
  return { id, bucket, ...shown, ...counts, reasoningTokens: 0, costNanoUsd: 1, ...histograms }
}
