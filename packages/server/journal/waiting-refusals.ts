import type { RequestRecord } from '../core/records/request-record.ts'

/** The time for records of refused requests in one tick of the event loop, in milliseconds. */
const SLICE_MS = 1
/** The most records that share one write. */
const GROUP = 8

interface QueuedRefusal {
  readonly record: RequestRecord
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Records of refused requests that are not in the journal yet. Their callers pay nothing, and each takes up to 0.1 ms. So a flood
 * of them gets a small part of each tick of the event loop, and those who are refused wait for their answers meanwhile.
 */
export class WaitingRefusals {
  readonly #write: (records: readonly RequestRecord[]) => void
  readonly #waiting: QueuedRefusal[] = []
  #isScheduled = false

  constructor(write: (records: readonly RequestRecord[]) => void) {
    this.#write = write
  }

  /** Resolves once the record was written. Rejects with the exception of `write`. */
  add(record: RequestRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject })
      if (this.#isScheduled) return
      this.#isScheduled = true
      // Requests that end in the same tick come before.
      queueMicrotask(() => this.#writeSlice())
    })
  }

  /** Writes all that wait at once. */
  writeAll(): void {
    while (this.#waiting.length > 0) this.#writeGroup()
  }

  #writeSlice(): void {
    const until = performance.now() + SLICE_MS
    while (this.#waiting.length > 0) {
      this.#writeGroup()
      if (performance.now() >= until) break
    }
    this.#isScheduled = this.#waiting.length > 0
    if (this.#isScheduled) setImmediate(() => this.#writeSlice())
  }

  #writeGroup(): void {
    const group = this.#waiting.splice(0, GROUP)
    try {
      this.#write(group.map(({ record }) => record))
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}
