import {
  type CalendarBounds,
  type CalendarWindow,
  calendarBoundsAt,
  type Window,
  type WindowBounds,
} from '../tenancy/windows.ts'

/** The windows at one instant. Each calendar window is computed once; `from` and `until` enclose the time that all of them share. */
export class CurrentWindows {
  readonly #timeZone: string
  readonly #at: number
  readonly #found = new Map<CalendarWindow, CalendarBounds>()
  from = Number.NEGATIVE_INFINITY
  until = Number.POSITIVE_INFINITY

  /** `at`: Unix milliseconds. */
  constructor(timeZone: string, at: number) {
    this.#timeZone = timeZone
    this.#at = at
  }

  /** Returns the window of a policy. Each policy has its own `total` window, from its creation on. */
  get(window: Window, createdAt: number): WindowBounds {
    return window === 'total' ? { start: createdAt, end: null } : this.getCalendar(window)
  }

  getCalendar(window: CalendarWindow): CalendarBounds {
    let bounds = this.#found.get(window)
    if (bounds === undefined) {
      bounds = calendarBoundsAt(window, this.#at, this.#timeZone)
      this.#found.set(window, bounds)
      this.from = Math.max(this.from, bounds.start)
      this.until = Math.min(this.until, bounds.end)
    }
    return bounds
  }
}
