import type { Log } from '../core/log.ts'
import { LogPace } from '../core/log-pace.ts'
import type { RecordBatch, RecordLine } from '../core/records/request-record.ts'
import type { Journal } from './journal.ts'

/**
 * Lines of queued records that the journal could not take. They are in memory only, so a kill would lose them until they are
 * journaled after all, or their batch is in the database.
 */
export class UnjournaledLines {
  readonly #journal: Journal
  readonly #log: Pick<Log, 'error'>
  readonly #onSafe: (id: string) => void
  readonly #lines = new Map<RecordBatch, RecordLine[]>()
  readonly #pace = new LogPace()
  #chars = 0

  /** `onSafe` is called with the id of each record that a kill would not lose any more. */
  constructor(journal: Journal, log: Pick<Log, 'error'>, onSafe: (id: string) => void) {
    this.#journal = journal
    this.#log = log
    this.#onSafe = onSafe
  }

  /** The characters of all lines. */
  get chars(): number {
    return this.#chars
  }

  add(batch: RecordBatch, line: RecordLine): void {
    const lines = this.#lines.get(batch)
    if (lines === undefined) this.#lines.set(batch, [line])
    else lines.push(line)
    this.#chars += line.json.length
  }

  /** Removes the lines of a batch that is in the database. */
  forget(batch: RecordBatch): void {
    const lines = this.#lines.get(batch)
    if (lines === undefined) return
    this.#lines.delete(batch)
    for (const { id, json } of lines) {
      this.#chars -= json.length
      this.#onSafe(id)
    }
  }

  /** Tries to journal all lines again. */
  appendAgain(): void {
    if (this.#lines.size === 0) return
    const lines = [...this.#lines.values()].flat()
    try {
      this.#journal.append(...lines.map(({ json }) => json))
    } catch (error) {
      this.logFailure(error, lines.length)
      return
    }
    this.#lines.clear()
    this.#chars = 0
    for (const { id } of lines) this.#onSafe(id)
  }

  /** Logs that the journal could not be written, from time to time. */
  logFailure(err: unknown, records: number): void {
    const message = 'usage records could not be written to the journal; they are in memory only'
    if (this.#pace.isDue(performance.now())) this.#log.error({ err, records }, message)
  }
}
