import { type OnException, runGuarded } from '../../core/on-exception.ts'
import type { StoredClaim } from '../../storage/idempotency/idempotent-answers.ts'
import type { IdempotencyGroup } from './idempotency-group.ts'

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
  readonly #groups = new Map<string, IdempotencyGroup>()
  #timer: NodeJS.Timeout | undefined
  #failingSince: number | undefined
  #isClosed = false

  constructor(options: ClaimWatchOptions) {
    this.#options = options
  }

  add(group: IdempotencyGroup): void {
    this.#groups.set(group.key, group)
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#groups.size === 0 || this.#isClosed) return
    const { onException } = this.#options
    this.#timer = setTimeout(
      () => runGuarded('the watch of idempotency keys', onException, () => this.#poll()),
      POLL_MS,
    )
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    const watched = [...this.#groups.values()]
    try {
      const found = await this.#options.find(watched.map(({ scope }) => scope.hash))
      this.#failingSince = undefined
      const byKey = new Map(found.map(entry => [entry.hash.toString('base64'), entry]))
      for (const group of watched) this.#claimIfFree(group, byKey.get(group.key))
    } catch (error) {
      this.#failingSince ??= performance.now()
      if (performance.now() - this.#failingSince > PATIENCE_MS) this.#failAll(watched, error)
    } finally {
      this.#timer = undefined
      this.#schedule()
    }
  }

  #claimIfFree(group: IdempotencyGroup, found: StoredClaim | undefined): void {
    if (group.isAwaited && found !== undefined && this.#options.isRunning(found)) return
    this.#groups.delete(group.key)
    void group.claim()
  }

  #failAll(groups: readonly IdempotencyGroup[], error: unknown): void {
    this.#failingSince = undefined
    for (const group of groups) {
      this.#groups.delete(group.key)
      group.fail(error)
    }
  }
}
