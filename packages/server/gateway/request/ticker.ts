import { throwLater } from '../../core/on-exception.ts'

/** Something with timeouts. `tick` is called about four times a second with `performance.now()`. */
export interface Ticking {
  /** The position in the ticker, which the ticker manages. */
  tickerSlot: number
  tick(now: number): void
  /** Called with an exception of `tick`. Ends the work that this stands for. */
  fail(error: unknown, where: string): void
}

/** One timer for all requests. A timer for each would cost more than the requests that it guards. */
export interface Ticker {
  add(ticking: Ticking): void
  remove(ticking: Ticking): void
  close(): void
}

const NOWHERE = -1

export function openTicker(everyMs = 250): Ticker {
  // Not a Set, for the reason given in core/short-lived-map.ts.
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

/** An exception of one does not keep the others from their tick. */
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
