import type { Meter, RollingMeter } from '../core/meter.ts'

/** What one request added to a rolling counter. */
export interface Entry {
  readonly at: number
  amount: number
  isHeld: boolean
  /** Its window has passed: nothing of it counts any more. */
  isOut: boolean
}

/** The counter of a span or of what is in flight: two sums. */
export interface SumCounter {
  readonly kind: 'sum'
  settled: number
  held: number
}

/** More entries than this are merged: a limit of a million a month must not keep a million times. */
const MAX_ENTRIES = 20_000

/**
 * What was admitted within the last `windowMs`, exactly; entries stand in the order of their admission. Beyond
 * MAX_ENTRIES, what was settled within the same twenty-thousandth of the window counts as if it came at its end, so that
 * the limit still holds in any span.
 */
export class RollingCounter {
  readonly kind = 'rolling'
  settled = 0
  held = 0
  readonly #windowMs: number
  #entries: Entry[] = []
  /** Index of the oldest that counts. */
  #head = 0
  #mergeAbove = MAX_ENTRIES

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Drops what does not count any more. */
  advance(now: number): void {
    const past = now - this.#windowMs
    for (;;) {
      const entry = this.#entries[this.#head]
      if (entry === undefined || entry.at > past) break
      this.#head++
      entry.isOut = true
      if (entry.isHeld) this.held -= entry.amount
      else this.settled -= entry.amount
    }
    if (this.#head > 64 && this.#head * 2 > this.#entries.length) this.#compact()
  }

  /** Time may stand still but never goes back: what comes later counts at least as long. */
  hold(at: number, amount: number): Entry {
    const entry = { at: Math.max(at, this.#entries.at(-1)?.at ?? at), amount, isHeld: true, isOut: false }
    this.#entries.push(entry)
    this.held += amount
    return entry
  }

  change(entry: Entry, delta: number): void {
    entry.amount += delta
    if (entry.isOut) return
    if (entry.isHeld) this.held += delta
    else this.settled += delta
  }

  /** What was held is used. */
  settle(entry: Entry): void {
    if (!entry.isHeld) return
    entry.isHeld = false
    if (entry.isOut) return
    this.held -= entry.amount
    this.settled += entry.amount
    if (this.#entries.length > this.#mergeAbove) this.#compact()
  }

  /** Something that was used elsewhere, or before this counter was there. */
  insert(at: number, amount: number): void {
    this.#compact()
    let index = this.#entries.length
    while (index > 0 && (this.#entries[index - 1] as Entry).at > at) index--
    this.#entries.splice(index, 0, { at, amount, isHeld: false, isOut: false })
    this.settled += amount
  }

  /** When the oldest that counts ends to; null: nothing counts. */
  resetAt(): number | null {
    const entry = this.#entries[this.#head]
    return entry === undefined ? null : entry.at + this.#windowMs
  }

  /** When so much will have ended to count; null: there is not so much. */
  freedAt(amount: number): number | null {
    let freed = 0
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index] as Entry
      freed += entry.amount
      if (freed >= amount) return entry.at + this.#windowMs
    }
    return null
  }

  #compact(): void {
    const live = this.#entries.slice(this.#head)
    this.#head = 0
    this.#entries = live.length > MAX_ENTRIES ? merge(live, this.#windowMs / MAX_ENTRIES) : live
    // What is held cannot be merged: do not try again at once.
    this.#mergeAbove = Math.max(MAX_ENTRIES, this.#entries.length) * 2
  }
}

/** The later of two settled neighbours takes the amount of both; who still knows the earlier changes nothing by it. */
function merge(entries: readonly Entry[], spanMs: number): Entry[] {
  const merged: Entry[] = []
  for (const entry of entries) {
    const last = merged.at(-1)
    const isNear = last !== undefined && Math.floor(last.at / spanMs) === Math.floor(entry.at / spanMs)
    if (isNear && !last.isHeld && !entry.isHeld) {
      entry.amount += last.amount
      last.isOut = true
      merged[merged.length - 1] = entry
    } else merged.push(entry)
  }
  return merged
}

export type Counter = SumCounter | RollingCounter

export function createCounter(meter: Meter): Counter {
  return meter.kind === 'rolling'
    ? new RollingCounter((meter satisfies RollingMeter).windowMs)
    : { kind: 'sum', settled: 0, held: 0 }
}
