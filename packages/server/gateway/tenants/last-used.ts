import type { Log } from '../../core/log.ts'
import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'

/** How stale a key's `last_used_at` may be. Milliseconds. */
const FLUSH_MS = 60_000

export interface LastUsedOptions {
  /** Writes them all in one statement. */
  readonly store: (uses: ReadonlyMap<string, number>) => Promise<void>
  readonly log: Pick<Log, 'warn'>
  readonly onException?: OnException
}

/** When keys were last used, noted in memory and written together once a minute: no request waits for a write. */
export class LastUsed {
  readonly #options: LastUsedOptions
  readonly #timer: NodeJS.Timeout
  /** Key id → Unix milliseconds. */
  #uses = new Map<string, number>()

  constructor(options: LastUsedOptions) {
    this.#options = options
    const { onException = throwLater } = options
    this.#timer = setInterval(
      () => runGuarded('the last use of keys', onException, () => this.flush()),
      FLUSH_MS,
    )
    this.#timer.unref()
  }

  note(keyId: string, now: number): void {
    this.#uses.set(keyId, now)
  }

  /** Never rejects: what cannot be written now is written with the next. */
  async flush(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#uses = new Map()
    try {
      await this.#options.store(uses)
    } catch (error) {
      for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at)
      this.#options.log.warn({ err: error }, 'the use of keys could not be written; it will be tried again')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
