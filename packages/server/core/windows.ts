/**
 * Calendar windows of quotas and budgets, in an organization's time zone. Pure: what a window is follows from the
 * instant alone, so nothing has to reset anything, and every replica tells the same. Source: contract.md §4.
 */

export const CALENDAR_WINDOWS = ['hour', 'day', 'week', 'month'] as const
export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number]
export type Window = CalendarWindow | 'total'

/** From `start` up to but not with `end`, in Unix milliseconds. */
export interface Span {
  readonly start: number
  /** null: it never ends. */
  readonly end: number | null
}

interface CalendarSpan extends Span {
  readonly end: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Of any window: `total` begins with `createdAt`. Throws RangeError where the time zone is not one. */
export function spanAt(window: Window, instant: number, timeZone: string, createdAt: number): Span {
  return window === 'total' ? { start: createdAt, end: null } : windowAt(window, instant, timeZone)
}

/** The calendar window that holds `instant`. Weeks begin on Monday. */
export function windowAt(window: CalendarWindow, instant: number, timeZone: string): CalendarSpan {
  if (window === 'hour') return hourAt(instant, timeZone)
  let wall = firstDay(window, toWall(instant, timeZone))
  let start = startOf(wall, timeZone)
  // A clock may go back over midnight and show the day before again, and a calendar may leave a date out: the
  // boundaries decide, not the date that is shown.
  for (;;) {
    wall = nextFirstDay(window, wall)
    const end = startOf(wall, timeZone)
    if (end > instant) return { start, end }
    start = end
  }
}

// What a clock on the wall shows is written as if it were UTC ("wall"): plain arithmetic moves it by days and months.

function firstDay(window: CalendarWindow, wall: number): number {
  const date = new Date(Math.floor(wall / DAY_MS) * DAY_MS)
  if (window === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  if (window === 'month') date.setUTCDate(1)
  return date.getTime()
}

function nextFirstDay(window: CalendarWindow, wall: number): number {
  const date = new Date(wall)
  if (window === 'month') date.setUTCMonth(date.getUTCMonth() + 1)
  else date.setUTCDate(date.getUTCDate() + (window === 'week' ? 7 : 1))
  return date.getTime()
}

/** The instant at which the wall clock first shows this moment, or jumps over it. */
function startOf(wall: number, timeZone: string): number {
  const before = wall - offsetAt(wall - DAY_MS, timeZone)
  const after = wall - offsetAt(wall + DAY_MS, timeZone)
  for (const instant of [Math.min(before, after), Math.max(before, after)]) {
    if (toWall(instant, timeZone) === wall) return instant
  }
  // The clock jumps over it: the jump lies between, and from it on the clock shows more.
  let [low, high] = [Math.min(before, after), Math.max(before, after)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (toWall(middle, timeZone) >= wall) high = middle
    else low = middle
  }
  return high
}

/**
 * Hours begin when the wall clock shows a full hour. Where it is moved by 30 minutes, the hour within which that
 * happens is 30 or 90 minutes long; where it is moved by whole hours, every hour is one.
 */
function hourAt(instant: number, timeZone: string): CalendarSpan {
  const hours = [-2, -1, 0, 1, 2].map(count => count * HOUR_MS)
  const grids = hours.map(by => instant - modulo(toWall(instant + by, timeZone) - by, HOUR_MS))
  const [grid] = grids as [number]
  if (grids.every(other => other === grid)) return { start: grid, end: grid + HOUR_MS }
  const boundaries = grids
    .flatMap(each => hours.map(by => each + by))
    .filter(at => modulo(toWall(at, timeZone), HOUR_MS) === 0)
  return {
    start: Math.max(...boundaries.filter(at => at <= instant)),
    end: Math.min(...boundaries.filter(at => at > instant)),
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

function toWall(instant: number, timeZone: string): number {
  return instant + offsetAt(instant, timeZone)
}

/** How far the wall clock is ahead of UTC, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const seconds = Math.floor(instant / 1000) * 1000
  const part: Record<string, number> = {}
  for (const { type, value } of formatterOf(timeZone).formatToParts(seconds)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second) - seconds
}

/** A formatter costs some 50 µs to make and says the same for ever; there are about 600 zones. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(timeZone, formatter)
  }
  return formatter
}
