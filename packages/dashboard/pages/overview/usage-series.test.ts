import { expect, test } from 'vitest'
import { toBuckets, toTotals, type Usage } from './usage-series.ts'

const NOW = Date.UTC(2026, 10, 22, 14, 30)

function row(bucket: string, change: Partial<Usage> = {}): Usage {
  return {
    bucket,
    sandbox: false,
    requests: 10,
    errors: 1,
    input_tokens: 100,
    output_tokens: 50,
    cached_tokens: 0,
    cost_usd: 0.5,
    unpriced_requests: 0,
    latency_ms_p50: 200,
    latency_ms_p95: 900,
    ...change,
  }
}

test('hours without a request have zero counts and no percentiles', () => {
  const buckets = toBuckets([row('2026-11-22T13:00:00.000Z')], '24h', NOW, 'Europe/Berlin')
  expect(buckets).toHaveLength(25)
  expect(buckets.at(-2)).toMatchObject({ label: '14:00', requests: 10, p95Ms: 900 })
  expect(buckets.at(-1)).toMatchObject({ label: '15:00', requests: 0, p50Ms: null, p95Ms: null })
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

test('the sandbox counts as requests and never as cost', () => {
  const rows = [
    row('2026-11-22T13:00:00.000Z'),
    row('2026-11-22T13:00:00.000Z', { sandbox: true, cost_usd: 9 }),
  ]
  expect(toTotals(rows)).toMatchObject({ requests: 20, errors: 2, tokens: 300, costUsd: 0.5 })
})
