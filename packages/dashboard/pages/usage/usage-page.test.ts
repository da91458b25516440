import { expect, test } from 'vitest'
import { toForecast } from './forecast.ts'
import { toCsv } from './usage-file.ts'
import { sumAll, toDate, toPivot, toStacks, type Usage } from './usage-pivot.ts'
import { isAllowed, listDays, parseUsageSearch, toEarlier } from './usage-search.ts'

const NOW = Date.UTC(2026, 10, 22, 14, 30)

function row(bucket: string, change: Partial<Usage> = {}): Usage {
  return {
    bucket,
    other: null,
    sandbox: false,
    requests: 10,
    errors: 1,
    input_tokens: 100,
    output_tokens: 50,
    cached_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: 0.5,
    unpriced_requests: 0,
    latency_ms_p50: null,
    latency_ms_p95: null,
    first_byte_ms_p50: null,
    first_byte_ms_p95: null,
    ...change,
  }
}
const MODELS = ['a', 'b', 'c', 'd', 'e', 'f']
const rows = [
  ...MODELS.map((model, index) => row('2026-11-21T00:00:00.000Z', { model, cost_usd: 6 - index })),
  row('2026-11-22T00:00:00.000Z', { model: 'f', cost_usd: 0.1 }),
  row('2026-11-22T00:00:00.000Z', { model: null, other: true, cost_usd: 50 }),
]

test('the bars of the days, the rows of the table and the lines of the file have equal sums', () => {
  const pivot = toPivot(rows, 'model', 'UTC')
  expect(pivot.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', undefined])
  expect(sumAll(pivot).costUsd).toBeCloseTo(71.1)
  const nameOf = ({ value }: { value: string | null | undefined }) => value ?? 'Other'
  const { labels, series } = toStacks(pivot, listDays('30d', NOW, 'UTC'), 'cost', 'UTC', nameOf)
  expect(labels.slice(-2)).toEqual(['21 Nov', '22 Nov'])
  expect(series.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'Other'])
  expect(series.at(-1)?.values.slice(-3)).toEqual([0, 1, 50.1])
  const csv = toCsv(pivot, 'Model', nameOf).trim().split('\r\n').slice(1)
  expect(csv.reduce((sum, line) => sum + Number(line.split(',')[7]), 0)).toBeCloseTo(71.1)
  expect(csv[0]).toBe('2026-11-21,a,10,1,100,50,0,6,0')
})

test('a name that somebody chose is no formula in the file, and its commas are kept', () => {
  const pivot = toPivot([row('2026-11-21T00:00:00.000Z', { end_user_id: '=1+1,"x"' })], 'end_user', 'UTC')
  expect(toCsv(pivot, 'End user', ({ value }) => value ?? '')).toContain(`2026-11-21,"'=1+1,""x""",10`)
})

test('a name has no formula behind a separator of another language either', () => {
  const name = 'x;=HYPERLINK("http://x")'
  const pivot = toPivot([row('2026-11-21T00:00:00.000Z', { end_user_id: name })], 'end_user', 'UTC')
  expect(toCsv(pivot, 'End user', ({ value }) => value ?? '')).toContain(`"x;'=HYPERLINK(""http://x"")",10`)
})

test('days and months are those of the zone, also where the clocks change', () => {
  const days = listDays('month', Date.UTC(2026, 9, 31, 23, 30), 'America/New_York')
  expect(days).toHaveLength(31)
  const berlin = toPivot([row('2026-10-31T23:00:00.000Z')], 'month', 'Europe/Berlin')
  expect(berlin[0]?.value).toBe('Nov 2026')
})

test('the days before a range are as many, end where it begins, and are left out for a few days', () => {
  const toDays = (range: 'month' | '30d', now: number) => {
    const earlier = toEarlier(range, now, 'Europe/Berlin')
    return (
      earlier && [toDate(earlier.from, 'Europe/Berlin'), toDate(earlier.to, 'Europe/Berlin'), earlier.days]
    )
  }
  // The clocks change within the month.
  expect(toDays('month', Date.UTC(2026, 9, 31, 22, 30))).toEqual(['31 Aug 2026', '30 Sept 2026', 31])
  expect(toDays('30d', NOW)).toEqual(['24 Sept 2026', '23 Oct 2026', 30])
  expect(toDays('month', Date.UTC(2026, 10, 7, 12))).toEqual(['25 Oct 2026', '31 Oct 2026', 7])
  expect(toDays('month', Date.UTC(2026, 10, 6, 12))).toBeUndefined()
})

test('the forecast is a range around the mean of seven whole days, never below what is spent', () => {
  const steady = Array.from({ length: 21 }, (_, index) =>
    row(new Date(Date.UTC(2026, 10, index + 1)).toISOString(), { cost_usd: 2 }),
  )
  // 21 days are over, today has nothing yet, 8 days are left.
  expect(toForecast(steady, NOW, 'UTC')).toEqual({ spentUsd: 42, lowUsd: 60, highUsd: 60, daysLeft: 8 })
  const uneven = toForecast(
    [
      ...steady,
      row('2026-11-20T00:00:00Z', { cost_usd: 30 }),
      row('2026-11-22T00:00:00Z', { sandbox: true }),
    ],
    NOW,
    'UTC',
  )
  expect(uneven.spentUsd).toBe(72)
  expect(uneven.lowUsd).toBeGreaterThanOrEqual(72)
  expect(uneven.highUsd).toBeGreaterThan(uneven.lowUsd)
})

test('what is no choice is left out of the address, and end users are ranked within a month only', () => {
  expect(parseUsageSearch({ range: '90d', by: 'constructor', of: 'project', x: '1' })).toEqual({
    range: '90d',
    of: 'project',
  })
  expect([isAllowed('90d', 'end_user'), isAllowed('month', 'end_user'), isAllowed('90d', 'key')]).toEqual([
    false,
    true,
    true,
  ])
})
