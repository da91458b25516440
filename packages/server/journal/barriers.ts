/** Called with the ids of records that were written later, which are not in the database. */
type Read<T> = (missing: ReadonlySet<string>) => Promise<T>

interface Barrier {
  /** The number of inserted records of the queue after which `run` is called. */
  readonly after: number
  readonly run: Read<void>
  readonly fail: (error: unknown) => void
}

/** Reads of the database that wait until certain records are in it, and that run while the drain inserts nothing. */
export class Barriers {
  #waiting: Barrier[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Adds a read that runs once `after` records of the queue are inserted. Rejects as the read does, or as `failAll` says. */
  add<T>(after: number, read: Read<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run: Read<void> = missing => read(missing).then(resolve, reject)
      this.#waiting.push({ after, run, fail: reject })
    })
  }

  /** True if a read need not wait any longer once `inserted` records of the queue are inserted. */
  hasReady(inserted: number): boolean {
    return this.#waiting.some(({ after }) => after <= inserted)
  }

  /** Runs all reads that are ready, at the same time. */
  async runReady(inserted: number, missing: ReadonlySet<string>): Promise<void> {
    const ready = this.#waiting.filter(({ after }) => after <= inserted)
    this.#waiting = this.#waiting.filter(({ after }) => after > inserted)
    await Promise.all(ready.map(({ run }) => run(missing)))
  }

  failAll(error: unknown): void {
    for (const { fail } of this.#waiting.splice(0)) fail(error)
  }
}
