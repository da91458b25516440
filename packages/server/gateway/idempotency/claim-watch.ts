import { type OnException, runGuarded } from '../../core/on-exception.ts'
import type { StoredClaim } from '../../storage/idempotency/idempotent-answers.ts'
import type { Flight } from './flight.ts'

/** How often the claims of other processes are read while requests wait for them. */
const POLL_MS = 100
/** How long the database may fail before the requests that wait are refused. */
const PATIENCE_MS = 5_000

export interface ClaimWatchOptions {
  readonly find: (hashes: readonly Buffer[]) => Promise<StoredClaim[]>
  /** Returns true if the claim's process may still make the answer. */
  readonly isRunning: (found: StoredClaim) => boolean
  readonly onException: OnException
}

/**
 * Watches the claims of other processes that requests of this one wait for: one query reads all of them. Polling needs no
 * second channel between the processes that could fail by itself, and finds processes that were killed.
 */
export class ClaimWatch {
  readonly #options: ClaimWatchOptions
  readonly #flights = new Map<string, Flight>()
  #timer: NodeJS.Timeout | undefined
  #failingSince: number | undefined
  #isClosed = false

  constructor(options: ClaimWatchOptions) {
    this.#options = options
  }

  add(flight: Flight): void {
    this.#flights.set(flight.key, flight)
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#flights.size === 0 || this.#isClosed) return
    const { onException } = this.#options
    this.#timer = setTimeout(
      () => runGuarded('the watch of idempotency keys', onException, () => this.#poll()),
      POLL_MS,
    )
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    const watched = [...this.#flights.values()]
    try {
      const found = await this.#options.find(watched.map(({ scope }) => scope.hash))
      this.#failingSince = undefined
      const byKey = new Map(found.map(entry => [entry.hash.toString('base64'), entry]))
      for (const flight of watched) this.#check(flight, byKey.get(flight.key))
    } catch (error) {
      this.#failingSince ??= performance.now()
      if (performance.now() - this.#failingSince > PATIENCE_MS) this.#failAll(watched, error)
    } finally {
      this.#timer = undefined
      this.#schedule()
    }
  }

  #check(flight: Flight, found: StoredClaim | undefined): void {
    if (flight.isAwaited && found !== undefined && this.#options.isRunning(found)) return
    this.#flights.delete(flight.key)
    void flight.claim()
  }

  #failAll(flights: readonly Flight[], error: unknown): void {
    this.#failingSince = undefined
    for (const flight of flights) {
      this.#flights.delete(flight.key)
      flight.fail(error)
    }
  }
}
