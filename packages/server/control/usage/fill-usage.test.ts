import { expect, test } from 'vitest'
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
  expect(pieces).toBeGreaterThan(2 * 366 * 24)
})
