import type { Log } from '../core/log.ts'
import { LogPace } from '../core/log-pace.ts'
import type { RecordBatch } from '../core/records/request-record.ts'
import type { Journal } from './journal.ts'

/**
 * Lines of queued records that the journal could not take. They are in memory only, so a kill would lose them until they are
 * journaled after all, or their batch is in the database.
 */
export class UnjournaledLines {
  readonly #journal: Journal
  readonly #log: Pick<Log, 'error'>
  readonly #lines = new Map<RecordBatch, string[]>()
  readonly #pace = new LogPace()
  #chars = 0

  constructor(journal: Journal, log: Pick<Log, 'error'>) {
    this.#journal = journal
    this.#log = log
  }

  /** The characters of all lines. */
  get chars(): number {
    return this.#chars
  }

  add(batch: RecordBatch, json: string): void {
    const lines = this.#lines.get(batch)
    if (lines === undefined) this.#lines.set(batch, [json])
    else lines.push(json)
    this.#chars += json.length
  }

  /** Removes the lines of a batch that is in the database. */
  forget(batch: RecordBatch): void {
    for (const json of this.#lines.get(batch) ?? []) this.#chars -= json.length
    this.#lines.delete(batch)
  }

  /** Tries to journal all lines again. */
  appendAgain(): void {
    if (this.#lines.size === 0) return
    const lines = [...this.#lines.values()].flat()
    try {
      this.#journal.append(...lines)
      this.#lines.clear()
      this.#chars = 0
    } catch (error) {
      this.logFailure(error, lines.length)
    }
  }

  /** Logs that the journal could not be written, from time to time. */
  logFailure(err: unknown, records: number): void {
    const message = 'usage records could not be written to the journal; they are in memory only'
    if (this.#pace.isDue(performance.now())) this.#log.error({ err, records }, message)
  }
}
