import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  CALENDAR_WINDOWS,
  type CalendarWindow,
  calendarBoundsAt,
  isTimeZone,
  windowBoundsAt,
} from './windows.ts'

const HOUR = 3_600_000
const at = (text: string): number => Date.parse(text)

/** Returns the bounds of the window and its length in hours. */
function show(window: CalendarWindow, instant: string, timeZone: string): [string, string, number] {
  const { start, end } = calendarBoundsAt(window, at(instant), timeZone)
  return [new Date(start).toISOString(), new Date(end).toISOString(), (end - start) / HOUR]
}

describe('calendar windows', () => {
  test.each<[CalendarWindow, string, string, string, string, number]>([
    ['hour', '2026-05-06T07:08:09Z', 'UTC', '2026-05-06T07:00', '2026-05-06T08:00', 1],
    ['hour', '2026-05-06T07:08:09Z', 'Asia/Kathmandu', '2026-05-06T06:15', '2026-05-06T07:15', 1],
    ['day', '2026-05-06T07:08:09Z', 'UTC', '2026-05-06T00:00', '2026-05-07T00:00', 24],
    ['day', '2026-05-06T07:00:00Z', 'America/Los_Angeles', '2026-05-06T07:00', '2026-05-07T07:00', 24],
    ['day', '2026-05-06T06:59:59.999Z', 'America/Los_Angeles', '2026-05-05T07:00', '2026-05-06T07:00', 24],
    // A Sunday belongs to the week of the preceding Monday.
    ['week', '2026-05-10T23:59:59Z', 'UTC', '2026-05-04T00:00', '2026-05-11T00:00', 168],
    ['month', '2026-12-31T23:59:59Z', 'UTC', '2026-12-01T00:00', '2027-01-01T00:00', 744],
    ['month', '2028-02-29T12:00:00Z', 'Asia/Tokyo', '2028-01-31T15:00', '2028-02-29T15:00', 696],
    // Daylight saving time begins and ends: days of 23 and 25 hours, and the weeks and months that contain them.
    ['day', '2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-03-28T23:00', '2026-03-29T22:00', 23],
    ['day', '2026-10-25T12:00:00Z', 'Europe/Berlin', '2026-10-24T22:00', '2026-10-25T23:00', 25],
    ['week', '2026-10-25T12:00:00Z', 'Europe/Berlin', '2026-10-18T22:00', '2026-10-25T23:00', 169],
    ['month', '2026-03-15T12:00:00Z', 'Europe/Berlin', '2026-02-28T23:00', '2026-03-31T22:00', 743],
    // The hour that the clock shows twice is two windows; the hour that it skips is none.
    ['hour', '2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25T00:00', '2026-10-25T01:00', 1],
    ['hour', '2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25T01:00', '2026-10-25T02:00', 1],
    // Lord Howe changes its clocks by 30 minutes.
    ['day', '2026-04-05T01:00:00Z', 'Australia/Lord_Howe', '2026-04-04T13:00', '2026-04-05T13:30', 24.5],
    ['day', '2026-10-04T01:00:00Z', 'Australia/Lord_Howe', '2026-10-03T13:30', '2026-10-04T13:00', 23.5],
    ['hour', '2026-04-04T15:10:00Z', 'Australia/Lord_Howe', '2026-04-04T14:00', '2026-04-04T15:30', 1.5],
    ['hour', '2026-10-03T15:10:00Z', 'Australia/Lord_Howe', '2026-10-03T14:30', '2026-10-03T16:00', 1.5],
    // Sao Paulo skips midnight in 2017; Sao Paulo in 2018 and Havana reach it twice.
    ['day', '2017-10-15T12:00:00Z', 'America/Sao_Paulo', '2017-10-15T03:00', '2017-10-16T02:00', 23],
    ['day', '2018-02-17T12:00:00Z', 'America/Sao_Paulo', '2018-02-17T02:00', '2018-02-18T03:00', 25],
    ['day', '2026-11-01T12:00:00Z', 'America/Havana', '2026-11-01T04:00', '2026-11-02T05:00', 25],
    // One minute after midnight the clock was set back to the previous date.
    ['day', '2010-11-07T02:45:00Z', 'America/St_Johns', '2010-11-07T02:30', '2010-11-08T03:30', 25],
    // Samoa skipped the 30th of December.
    ['day', '2011-12-30T09:59:59Z', 'Pacific/Apia', '2011-12-29T10:00', '2011-12-30T10:00', 24],
    ['day', '2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-30T10:00', '2011-12-31T10:00', 24],
  ])('%s of %s in %s', (window, instant, timeZone, start, end, hours) => {
    expect(show(window, instant, timeZone)).toEqual([`${start}:00.000Z`, `${end}:00.000Z`, hours])
  })

  test('total begins when its policy was created and never ends', () => {
    expect(windowBoundsAt('total', 5000, 'Europe/Berlin', 1234)).toEqual({ start: 1234, end: null })
    expect(windowBoundsAt('hour', 5000, 'UTC', 1234)).toEqual({ start: 0, end: HOUR })
  })

  test('throws a RangeError for an unknown time zone', () => {
    expect(() => calendarBoundsAt('day', 0, 'Mars/Olympus')).toThrow(RangeError)
  })
})

const window = fc.constantFrom(...CALENDAR_WINDOWS)
const timeZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC')
const instant = fc.integer({ min: at('1971-01-01T00:00:00Z'), max: at('2099-12-31T00:00:00Z') })

test('every instant is in exactly one window, and each window begins where the previous one ends', () => {
  fc.assert(
    fc.property(window, instant, timeZone, (kind, now, zone) => {
      const { start, end } = calendarBoundsAt(kind, now, zone)
      expect(start <= now && now < end).toBe(true)
      expect(calendarBoundsAt(kind, start, zone)).toEqual({ start, end })
      expect(calendarBoundsAt(kind, end - 1, zone)).toEqual({ start, end })
      expect(calendarBoundsAt(kind, end, zone).start).toBe(end)
      expect(calendarBoundsAt(kind, start - 1, zone).end).toBe(start)
    }),
    { numRuns: 1000 },
  )
})

test('hours and days follow each other without gap or overlap across clock changes', () => {
  const zones = ['Australia/Lord_Howe', 'America/St_Johns', 'Asia/Pyongyang', 'America/Caracas', 'Asia/Gaza']
  for (const zone of zones) {
    for (const kind of ['hour', 'day'] as const) {
      let now = at(kind === 'day' ? '2008-01-01T00:00:00Z' : '2009-10-15T00:00:00Z')
      const until = at(kind === 'day' ? '2018-12-01T00:00:00Z' : '2009-12-01T00:00:00Z')
      let last = calendarBoundsAt(kind, now, zone).start
      while (now < until) {
        const { start, end } = calendarBoundsAt(kind, now, zone)
        if (start !== last || end <= start) throw new Error(`${zone} ${kind} ${new Date(now).toISOString()}`)
        last = end
        now = end
      }
    }
  }
})

describe('the names of a time zone', () => {
  test('share one formatter in all spellings, since nothing frees it', () => {
    const first = show('day', '2026-05-06T07:08:09Z', 'America/Argentina/Ushuaia')
    const create = vi.spyOn(Intl, 'DateTimeFormat')
    for (const timeZone of ['america/argentina/ushuaia', 'AMERICA/Argentina/USHUAIA']) {
      expect(isTimeZone(timeZone)).toBe(true)
      expect(show('day', '2026-05-06T07:08:09Z', timeZone)).toEqual(first)
    }
    const count = create.mock.calls.length
    create.mockRestore()
    expect(count).toBe(0)
    expect(isTimeZone('America/Nowhere')).toBe(false)
  })
})
