import { createSeededRandom } from './seeded-random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DEMO_DAYS = 90
/** The hours without a request, counted from the end. */
const QUIET_FROM_HOURS = 33 * 24
const QUIET_HOURS = 12

export interface HourLoad {
  /** Unix milliseconds. */
  readonly start: number
  readonly requests: number
}

/**
 * Returns how the requests are spread over the 90 days before `now`, oldest hour first: a wave over the working day of the time
 * zone, weekends at 35 %, 6 % more a week, and twelve hours without any. The sum is `rows`.
 */
export function toHourlyLoad(now: number, rows: number, timeZone: string): readonly HourLoad[] {
  const random = createSeededRandom(3)
  const wall = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    hourCycle: 'h23',
  })
  const first = now - DEMO_DAYS * DAY_MS
  const hours = Array.from({ length: DEMO_DAYS * 24 }, (_, index) => {
    const start = first + index * HOUR_MS
    const parts = wall.formatToParts(start)
    const partOf = (type: string): string => parts.find(part => part.type === type)?.value ?? ''
    const isWeekend = partOf('weekday').startsWith('S')
    const fromEnd = DEMO_DAYS * 24 - index
    const isQuiet = fromEnd <= QUIET_FROM_HOURS && fromEnd > QUIET_FROM_HOURS - QUIET_HOURS
    const growth = 1.06 ** (index / (7 * 24))
    const load = waveAt(Number(partOf('hour'))) * (isWeekend ? 0.35 : 1) * growth * (0.85 + 0.3 * random())
    return { start, load: isQuiet ? 0 : load }
  })
  const total = hours.reduce((sum, { load }) => sum + load, 0)
  let [owed, given] = [0, 0]
  return hours.map(({ start, load }) => {
    owed += (load / total) * rows
    const requests = Math.round(owed) - given
    given += requests
    return { start, requests }
  })
}

/** The load of an hour of the day: low at night, two humps around noon, and a batch at two o'clock. */
function waveAt(hour: number): number {
  const hump = (at: number, width: number): number => Math.exp(-(((hour - at) / width) ** 2))
  return 0.12 + hump(10.5, 2.4) + 0.9 * hump(15, 2.6) + 0.25 * hump(20, 2) + (hour === 2 ? 0.5 : 0)
}
