import { toDate, type Usage } from './usage-pivot.ts'

const DAY_MS = 86_400_000
const BASIS_DAYS = 7

export interface Forecast {
  readonly spentUsd: number
  /** The lower and upper estimate of the whole month's spend. */
  readonly lowUsd: number
  readonly highUsd: number
  /** How many whole days are left after today. */
  readonly daysLeft: number
}

/**
 * Estimates the month's spend from the mean of the last 7 whole days. The range is one standard deviation of the remaining days to
 * each side, and never below what is already spent. `rows` is usage by day; the sandbox's prices do not count.
 */
export function toForecast(rows: readonly Usage[], now: number, timeZone: string): Forecast {
  const byDate = new Map<string, number>()
  for (const row of rows) {
    if (row.sandbox) continue
    const date = toDate(Date.parse(row.bucket), timeZone)
    byDate.set(date, (byDate.get(date) ?? 0) + (row.cost_usd ?? 0))
  }
  const today = toDate(now, timeZone)
  const month = today.replace(/^\d+ /, '')
  const spentUsd = [...byDate].reduce((sum, [date, usd]) => (date.endsWith(month) ? sum + usd : sum), 0)
  const basis = Array.from(
    { length: BASIS_DAYS },
    (_, index) => byDate.get(toDate(now - (index + 1) * DAY_MS, timeZone)) ?? 0,
  )
  const mean = basis.reduce((sum, usd) => sum + usd, 0) / BASIS_DAYS
  const variance = basis.reduce((sum, usd) => sum + (usd - mean) ** 2, 0) / (BASIS_DAYS - 1)
  let daysLeft = 0
  while (toDate(now + (daysLeft + 1) * DAY_MS, timeZone).endsWith(month)) daysLeft++
  const rest = Math.max(0, mean - (byDate.get(today) ?? 0)) + mean * daysLeft
  const spread = Math.sqrt(variance * (daysLeft + 1))
  return {
    spentUsd,
    lowUsd: spentUsd + Math.max(0, rest - spread),
    highUsd: spentUsd + rest + spread,
    daysLeft,
  }
}
