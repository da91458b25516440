import type { Fault } from '../../core/fault.ts'

/** The shortest and the longest delay of the answer to a request that came too fast, in milliseconds. */
const MIN_MS = 100
const MAX_MS = 500
/**
 * What each delayed answer adds to the delay of the next. A hundred connections that send again as soon as they are answered get
 * two hundred answers a second then, not a thousand.
 */
const MORE_MS = 10
/** Refusals of this time share one timer. Few enough end together that no tick of the event loop takes long. */
const SLOT_MS = 5
/** More are answered at once: each takes some 10 KB and a connection. */
const MAX_DELAYED = 2_000

/**
 * Delays the answers to requests that came too fast, for longer the more of them are delayed. A caller that sends its next
 * request when it has the answer to the last one then costs next to nothing, and the process has time for other callers.
 */
export class RefusalDelay {
  readonly #faults = new WeakSet<Fault>()
  #slot: Promise<void> = Promise.resolve()
  #slotAt = Number.NEGATIVE_INFINITY
  #delayed = 0

  get delayed(): number {
    return this.#delayed
  }

  /** Marks a fault as one whose answer is delayed. */
  mark(fault: Fault): void {
    this.#faults.add(fault)
  }

  /** Returns what to wait for before a fault is answered; undefined: nothing. `now`: milliseconds of a monotonic clock. */
  delayFor(fault: Fault, now: number): Promise<void> | undefined {
    if (!this.#faults.has(fault) || this.#delayed >= MAX_DELAYED) return undefined
    if (now - this.#slotAt >= SLOT_MS) {
      this.#slotAt = now
      this.#slot = openSlot(Math.min(MAX_MS, MIN_MS + MORE_MS * this.#delayed))
    }
    this.#delayed++
    return this.#slot.then(() => void this.#delayed--)
  }
}

function openSlot(delayMs: number): Promise<void> {
  return new Promise(resolve => void setTimeout(resolve, delayMs))
}
