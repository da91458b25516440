import type { Clock } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'

export interface LoadedRevocations {
  readonly serials: ReadonlySet<string>
  /** How long the list says that it may be used without being asked for again, in milliseconds; undefined: it does not say. */
  readonly maxAgeMs: number | undefined
}

export interface RevocationsOptions {
  /** Throws an error whose message is for the log. */
  readonly load: () => Promise<LoadedRevocations>
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  /** How long `ready` waits for a first list; 2 seconds by default. */
  readonly firstWaitMs?: number
}

const MIN_FRESH_MS = 5 * 60_000
const MAX_FRESH_MS = 24 * 60 * 60_000
/** The wait after a failure; it doubles with each further one. */
const FIRST_BACKOFF_MS = 60_000
const MAX_BACKOFF_MS = 60 * 60_000
const FIRST_WAIT_MS = 2_000
const NONE: ReadonlySet<string> = new Set()

/**
 * Keeps the serials of revoked Android certificates. The list is asked for in the background when it is needed and its time is
 * over. A list that cannot be replaced stays in use, however old: it revokes what it always did, and a host that
 * fails must not stop all attestations. Until the first one arrives nothing is revoked.
 */
export class Revocations {
  readonly #options: RevocationsOptions
  #serials: ReadonlySet<string> | undefined
  #loadedAt = 0
  #dueAt = Number.NEGATIVE_INFINITY
  #failures = 0
  #pending: Promise<void> | undefined

  constructor(options: RevocationsOptions) {
    this.#options = options
  }

  get serials(): ReadonlySet<string> {
    return this.#serials ?? NONE
  }

  /** Starts to load the list if its time is over. */
  refresh(): void {
    if (this.#pending !== undefined || this.#options.clock.now() < this.#dueAt) return
    this.#pending = this.#load().finally(() => {
      this.#pending = undefined
    })
  }

  /**
   * Resolves once the list may be used. Only the first one is waited for, and for 2 seconds at most, so that a restart is no
   * time at which revoked devices are accepted.
   */
  async ready(): Promise<void> {
    this.refresh()
    if (this.#serials !== undefined || this.#pending === undefined) return
    const { firstWaitMs = FIRST_WAIT_MS } = this.#options
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>(resolve => {
      timer = setTimeout(resolve, firstWaitMs)
    })
    await Promise.race([this.#pending, limit])
    clearTimeout(timer)
  }

  async #load(): Promise<void> {
    const { load, clock } = this.#options
    try {
      const { serials, maxAgeMs = MAX_FRESH_MS } = await load()
      this.#serials = serials
      this.#loadedAt = clock.now()
      this.#failures = 0
      this.#dueAt = this.#loadedAt + Math.min(Math.max(maxAgeMs, MIN_FRESH_MS), MAX_FRESH_MS)
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  #noteFailure(error: unknown): void {
    const now = this.#options.clock.now()
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, MAX_BACKOFF_MS)
    this.#failures += 1
    this.#dueAt = now + backoffMs
    const details = {
      reason: error instanceof Error ? error.message : String(error),
      age_seconds: this.#serials === undefined ? null : Math.round((now - this.#loadedAt) / 1000),
      retry_seconds: backoffMs / 1000,
    }
    this.#options.log.warn(details, 'the list of revoked Android certificates could not be loaded')
  }
}

/** Revokes nothing and sends no request. */
export const NO_REVOCATIONS: Pick<Revocations, 'serials' | 'refresh' | 'ready'> = {
  serials: NONE,
  refresh: () => {},
  ready: async () => {},
}
