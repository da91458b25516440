/** Something that waits: called about four times a second with `performance.now()`. */
export interface Ticking {
  tick(now: number): void
}

/** One sweeping clock for all exchanges: a timer each would cost more than the requests it guards. */
export interface Ticker {
  add(ticking: Ticking): void
  remove(ticking: Ticking): void
  close(): void
}

export function openTicker(everyMs = 250): Ticker {
  const live = new Set<Ticking>()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const ticking of live) ticking.tick(now)
  }, everyMs)
  timer.unref()
  return {
    add: ticking => live.add(ticking),
    remove: ticking => live.delete(ticking),
    close: () => clearInterval(timer),
  }
}
