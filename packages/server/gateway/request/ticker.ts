import { throwLater } from '../../core/on-exception.ts'

/** Something with timeouts. `tick` is called about four times a second with `performance.now()`. */
export interface TickerEntry {
  /** The position in the ticker, which the ticker manages. */
  tickerSlot: number
  tick(now: number): void
  /** Called with an exception of `tick`. Ends the work that this stands for. */
  fail(error: unknown, where: string): void
}

/** One timer for all requests. A timer for each would cost more than the requests that it guards. */
export interface Ticker {
  add(entry: TickerEntry): void
  remove(entry: TickerEntry): void
  close(): void
}

const NOWHERE = -1

export function openTicker(everyMs = 250): Ticker {
  // Not a Set, for the reason given in core/short-lived-map.ts.
  const live: TickerEntry[] = []
  const timer = setInterval(() => {
    const now = performance.now()
    for (const entry of [...live]) if (entry.tickerSlot !== NOWHERE) tickOne(entry, now)
  }, everyMs)
  timer.unref()
  return {
    add(entry) {
      entry.tickerSlot = live.push(entry) - 1
    },
    remove(entry) {
      const slot = entry.tickerSlot
      if (slot === NOWHERE) return
      entry.tickerSlot = NOWHERE
      const last = live.pop() as TickerEntry
      if (last === entry) return
      live[slot] = last
      last.tickerSlot = slot
    },
    close: () => clearInterval(timer),
  }
}

/** An exception of one does not keep the others from their tick. */
function tickOne(entry: TickerEntry, now: number): void {
  try {
    entry.tick(now)
  } catch (error) {
    try {
      entry.fail(error, 'the ticker')
    } catch (another) {
      throwLater(another, 'the ticker')
    }
  }
}
