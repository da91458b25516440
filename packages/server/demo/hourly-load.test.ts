import { expect, test } from 'vitest'
import { toHourlyLoad } from './hourly-load.ts'

const HOUR_MS = 3_600_000
const NOW = Date.UTC(2026, 10, 22, 12)

test('spreads exactly the given number of requests over 90 days that end now', () => {
  const load = toHourlyLoad(NOW, 50_000, 'Europe/Berlin')
  expect(load).toHaveLength(90 * 24)
  expect(load.at(-1)?.start).toBe(NOW - HOUR_MS)
  expect(load.reduce((sum, { requests }) => sum + requests, 0)).toBe(50_000)
  expect(load.every(({ requests }) => requests >= 0)).toBe(true)
})

test('leaves twelve hours empty, and gives a Saturday less than the Friday before it', () => {
  const load = toHourlyLoad(NOW, 50_000, 'Europe/Berlin')
  const quiet = load.filter(({ requests }) => requests === 0)
  expect(quiet).toHaveLength(12)
  const on = (day: number): number =>
    load
      .filter(({ start }) => new Date(start).getUTCDate() === day && new Date(start).getUTCMonth() === 10)
      .reduce((sum, { requests }) => sum + requests, 0)
  expect(on(21)).toBeLessThan(on(20) / 2)
})
