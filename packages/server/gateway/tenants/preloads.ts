import type { SnapshotName } from './snapshots.ts'

/** Loads that run at once: those of requests come first. */
const MAX_RUNNING = 2
/** More are forgotten. A request that needs one loads it then. */
const MAX_WAITING = 1_000

/** Loads in the background what other processes have loaded, a few at a time. */
export class Preloads {
  readonly #preload: (name: SnapshotName) => Promise<void>
  readonly #waiting: SnapshotName[] = []
  #running = 0

  constructor(preload: (name: SnapshotName) => Promise<void>) {
    this.#preload = preload
  }

  add(name: SnapshotName): void {
    if (this.#waiting.length === MAX_WAITING) return
    this.#waiting.push(name)
    if (this.#running < MAX_RUNNING) void this.#run()
  }

  async #run(): Promise<void> {
    this.#running++
    for (let name = this.#waiting.shift(); name !== undefined; name = this.#waiting.shift()) {
      // The request that needs it gets the error.
      await this.#preload(name).catch(() => {})
    }
    this.#running--
  }
}
