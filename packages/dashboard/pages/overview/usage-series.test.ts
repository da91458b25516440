import { expect, test } from 'vitest'
import { toBuckets, toTotals, type Usage } from './usage-series.ts'

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
    latency_ms_p50: 200,
    latency_ms_p95: 900,
    first_byte_ms_p50: null,
    first_byte_ms_p95: null,
    ...change,
  }
}

test('hours without a request have zero counts and no percentiles', () => {
  const buckets = toBuckets([row('2026-11-22T13:00:00.000Z')], '24h', NOW, 'Europe/Berlin')
  expect(buckets).toHaveLength(25)
  expect(buckets.at(-2)).toMatchObject({ label: '14:00', requests: 10, p95Ms: 900 })
  expect(buckets.at(-1)).toMatchObject({ label: '15:00', requests: 0, p50Ms: null, p95Ms: null })
})

test('hours are those of the zone, also where it differs from UTC by a part of an hour', () => {
  // 20:00 in Kolkata, where it is 20:00 since now.
  const buckets = toBuckets([row('2026-11-22T14:30:00.000Z')], '24h', NOW + 600_000, 'Asia/Kolkata')
  expect(buckets).toHaveLength(25)
  expect(buckets.at(-1)).toMatchObject({ label: '20:00', at: NOW, requests: 10 })
  expect(buckets.at(-2)).toMatchObject({ label: '19:00', at: NOW - 3_600_000, requests: 0 })
})

test('days are those of the zone, also where the clocks change', () => {
  const after = Date.UTC(2026, 9, 27, 12)
  // The day of the change begins at 22:00 UTC, the next one at 23:00.
  const rows = [row('2026-10-24T22:00:00.000Z'), row('2026-10-25T23:00:00.000Z', { requests: 3 })]
  const buckets = toBuckets(rows, '7d', after, 'Europe/Berlin')
  expect(buckets.map(({ label, requests }) => `${label}: ${requests}`).slice(-4)).toEqual([
    '24 Oct: 0',
    '25 Oct: 10',
    '26 Oct: 3',
    '27 Oct: 0',
  ])
})

test('each day lasts from midnight of the zone to the next one, also without a request, and the last one until now', () => {
  const after = Date.UTC(2026, 9, 27, 12)
  for (const rows of [[], [row('2026-10-24T22:00:00.000Z')]]) {
    const buckets = toBuckets(rows, '7d', after, 'Europe/Berlin')
    expect(
      buckets.map(({ at, end }) => [at, end].map(each => new Date(each).toISOString())).slice(-4),
    ).toEqual([
      ['2026-10-23T22:00:00.000Z', '2026-10-24T22:00:00.000Z'],
      ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
      ['2026-10-25T23:00:00.000Z', '2026-10-26T23:00:00.000Z'],
      ['2026-10-26T23:00:00.000Z', '2026-10-27T12:00:00.000Z'],
    ])
  }
  expect(toBuckets([], '30d', after, 'Asia/Kathmandu').at(-2)).toMatchObject({
    at: Date.UTC(2026, 9, 25, 18, 15),
    end: Date.UTC(2026, 9, 26, 18, 15),
  })
})

test('no day is left out where the clocks go forward between midnight and now', () => {
  // 00:30 on 30 March in Berlin: 24 hours before, it is 23:30 on the 28th.
  const after = Date.UTC(2026, 2, 29, 22, 30)
  const rows = [row('2026-03-28T23:00:00.000Z', { requests: 4 })]
  const buckets = toBuckets(rows, '7d', after, 'Europe/Berlin')
  expect(buckets.map(({ label, requests }) => `${label}: ${requests}`).slice(-3)).toEqual([
    '28 Mar: 0',
    '29 Mar: 4',
    '30 Mar: 0',
  ])
})

test('the sandbox counts as requests and never as cost', () => {
  const rows = [
    row('2026-11-22T13:00:00.000Z'),
    row('2026-11-22T13:00:00.000Z', { sandbox: true, cost_usd: 9 }),
  ]
  expect(toTotals(rows)).toMatchObject({ requests: 20, errors: 2, tokens: 300, costUsd: 0.5 })
})
