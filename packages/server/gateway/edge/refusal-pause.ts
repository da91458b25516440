import type { Fault } from '../../core/fault.ts'

/** How long the answer to a request that came too fast is held at least and at most, in milliseconds. */
const LEAST_MS = 100
const MOST_MS = 500
/**
 * What each answer that is held adds for the next. A hundred connections that send again as soon as they are answered get
 * two hundred answers a second then, not a thousand.
 */
const MORE_MS = 10
/** Refusals of this time share one timer. Few enough end together that no tick of the event loop takes long. */
const SLOT_MS = 5
/** More are answered at once: each takes some 10 KB and a connection. */
const MAX_PAUSED = 2_000

/**
 * Holds the answers to requests that came too fast for a moment, for longer the more of them are held. A caller that sends the
 * next request when it has the answer to the last one then costs next to nothing, and the process has its time for others.
 */
export class RefusalPause {
  readonly #faults = new WeakSet<Fault>()
  #slot: Promise<void> = Promise.resolve()
  #slotAt = Number.NEGATIVE_INFINITY
  #paused = 0

  get paused(): number {
    return this.#paused
  }

  /** Marks a fault as one whose answer waits. */
  note(fault: Fault): void {
    this.#faults.add(fault)
  }

  /** Returns what to wait for before a fault is answered; undefined: nothing. `now`: milliseconds of a monotonic clock. */
  of(fault: Fault, now: number): Promise<void> | undefined {
    if (!this.#faults.has(fault) || this.#paused >= MAX_PAUSED) return undefined
    if (now - this.#slotAt >= SLOT_MS) {
      this.#slotAt = now
      this.#slot = openSlot(Math.min(MOST_MS, LEAST_MS + MORE_MS * this.#paused))
    }
    this.#paused++
    return this.#slot.then(() => void this.#paused--)
  }
}

function openSlot(pauseMs: number): Promise<void> {
  return new Promise(resolve => void setTimeout(resolve, pauseMs))
}
