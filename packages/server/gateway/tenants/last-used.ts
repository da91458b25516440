import type { Log } from '../../core/log.ts'
import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'

/** How long a key's `last_used_at` may lag behind, in milliseconds. */
const FLUSH_MS = 60_000

export interface LastUsedOptions {
  /** Stores all of them in one statement. */
  readonly store: (uses: ReadonlyMap<string, number>) => Promise<void>
  readonly log: Pick<Log, 'warn'>
  readonly onException?: OnException
}

/** Notes in memory when keys were last used, and stores that once a minute, so that no request waits for a write. */
export class LastUsed {
  readonly #options: LastUsedOptions
  readonly #timer: NodeJS.Timeout
  /** Unix milliseconds, by key id. */
  #uses = new Map<string, number>()

  constructor(options: LastUsedOptions) {
    this.#options = options
    const { onException = throwLater } = options
    this.#timer = setInterval(
      () => runGuarded('the storing of when keys were last used', onException, () => this.flush()),
      FLUSH_MS,
    )
    this.#timer.unref()
  }

  note(keyId: string, now: number): void {
    this.#uses.set(keyId, now)
  }

  /** Stores what was noted. Never rejects: after a failure it is stored with the next flush. */
  async flush(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#uses = new Map()
    try {
      await this.#options.store(uses)
    } catch (error) {
      for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at)
      this.#options.log.warn(
        { err: error },
        'the last use of keys could not be stored; the next flush tries again',
      )
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
