import { throwLater } from '../../core/on-exception.ts'

/** Something that waits: called about four times a second with `performance.now()`. */
export interface Ticking {
  /** The ticker's: where it keeps this one. */
  tickerSlot: number
  tick(now: number): void
  /** Is given what its tick threw, and ends what it stands for. */
  fail(error: unknown, where: string): void
}

/** One sweeping clock for all requests: a timer each would cost more than the requests it guards. */
export interface Ticker {
  add(ticking: Ticking): void
  remove(ticking: Ticking): void
  close(): void
}

const NOWHERE = -1

export function openTicker(everyMs = 250): Ticker {
  // No Set, for the reason that core/short-lived-map.ts tells.
  const live: Ticking[] = []
  const timer = setInterval(() => {
    const now = performance.now()
    for (const ticking of [...live]) if (ticking.tickerSlot !== NOWHERE) tickOne(ticking, now)
  }, everyMs)
  timer.unref()
  return {
    add(ticking) {
      ticking.tickerSlot = live.push(ticking) - 1
    },
    remove(ticking) {
      const slot = ticking.tickerSlot
      if (slot === NOWHERE) return
      ticking.tickerSlot = NOWHERE
      const last = live.pop() as Ticking
      if (last === ticking) return
      live[slot] = last
      last.tickerSlot = slot
    },
    close: () => clearInterval(timer),
  }
}

/** One that throws keeps no other from its tick. */
function tickOne(ticking: Ticking, now: number): void {
  try {
    ticking.tick(now)
  } catch (error) {
    try {
      ticking.fail(error, 'the ticker')
    } catch (another) {
      throwLater(another, 'the ticker')
    }
  }
}
