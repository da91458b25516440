/** Called with the ids of records that were written later, which are not in the database. */
type Read<T> = (missing: ReadonlySet<string>) => Promise<T>

/** The end of the records written so far: those in the queue, and those that only segments have. */
export interface JournalPosition {
  /** The number of records of the queue. */
  readonly queued: number
  /** The last segment with records that are not in memory; 0: none. */
  readonly segment: number
}

interface Barrier {
  readonly position: JournalPosition
  /** The records that were written since, and are neither in memory nor in the database; undefined: no read needs them. */
  readonly later: Set<string> | undefined
  readonly run: Read<void>
  readonly fail: (error: unknown) => void
}

const NONE: ReadonlySet<string> = new Set()

/** Reads of the database that wait until certain records are in it, and that run while the drain inserts nothing. */
export class Barriers {
  readonly #isStored: (position: JournalPosition) => boolean
  #waiting: Barrier[] = []

  /** `isStored` returns true once the records up to a position are in the database. */
  constructor(isStored: (position: JournalPosition) => boolean) {
    this.#isStored = isStored
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** True if a read need not wait any longer. */
  get hasReady(): boolean {
    return this.#waiting.some(({ position }) => this.#isStored(position))
  }

  /** The segment that the read waits for that came first; 0: none. */
  get firstSegment(): number {
    return this.#waiting[0]?.position.segment ?? 0
  }

  /**
   * Adds a read that runs once everything up to `position` is stored. Rejects as the read does, as `failAll` says, or with the signal's
   * reason if that comes before the read runs, which it then never does.
   */
  add<T>(position: JournalPosition, read: Read<T>, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted()
      const run: Read<void> = missing => read(missing).then(resolve, reject)
      const barrier = { position, later: new Set<string>(), run, fail: reject }
      this.#waiting.push(barrier)
      signal?.addEventListener('abort', () => this.#withdraw(barrier, signal.reason), { once: true })
    })
  }

  /** Resolves once everything up to `position` is stored. Rejects as `failAll` says. */
  wait(position: JournalPosition): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ position, later: undefined, run: async () => resolve(), fail: reject })
    })
  }

  /** Notes a record that is written to a segment only. Kept for as long as reads wait that came before it. */
  noteLater(id: string): void {
    for (const { later } of this.#waiting) later?.add(id)
  }

  /** Notes that records of a segment are in the database. */
  noteStored(ids: readonly string[]): void {
    for (const { later } of this.#waiting) {
      if (later !== undefined && later.size > 0) for (const id of ids) later.delete(id)
    }
  }

  /** Runs all reads that are ready, at the same time. `listQueued` returns the records in memory. */
  async runReady(listQueued: () => ReadonlySet<string>): Promise<void> {
    const ready = this.#waiting.filter(({ position }) => this.#isStored(position))
    this.#waiting = this.#waiting.filter(barrier => !ready.includes(barrier))
    const queued = ready.some(({ later }) => later !== undefined) ? listQueued() : NONE
    await Promise.all(ready.map(({ later, run }) => run(unite(queued, later))))
  }

  failAll(error: unknown): void {
    for (const { fail } of this.#waiting.splice(0)) fail(error)
  }

  #withdraw(barrier: Barrier, reason: unknown): void {
    const at = this.#waiting.indexOf(barrier)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    barrier.fail(reason)
  }
}

function unite(queued: ReadonlySet<string>, later: Set<string> | undefined): ReadonlySet<string> {
  if (later === undefined || later.size === 0) return queued
  for (const id of queued) later.add(id)
  return later
}
