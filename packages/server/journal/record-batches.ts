import type { RecordLine } from '../core/records/request-record.ts'

export interface RecordBatchesOptions {
  /** Idempotent. Rejects only if the database is unavailable; a record that it can never store is left out. */
  readonly insert: (records: readonly RecordLine[]) => Promise<void>
  /** The most records in one insert, and the most characters of their lines. A single record may be longer. */
  readonly batchSize: number
  readonly batchChars: number
}

/** Inserts records in batches that are bounded in number and length. */
export class RecordBatches {
  readonly #options: RecordBatchesOptions

  constructor(options: RecordBatchesOptions) {
    this.#options = options
  }

  /** Inserts the next lines that go together, from `at` on, and returns them: at least one. */
  async insertNext(lines: readonly RecordLine[], at: number): Promise<readonly RecordLine[]> {
    const batch = this.#take(lines, at)
    await this.#options.insert(batch)
    return batch
  }

  async insertAll(lines: readonly RecordLine[]): Promise<void> {
    for (let at = 0; at < lines.length; ) at += (await this.insertNext(lines, at)).length
  }

  #take(lines: readonly RecordLine[], at: number): RecordLine[] {
    const { batchSize, batchChars } = this.#options
    const batch: RecordLine[] = []
    let chars = 0
    for (let next = at; next < lines.length && batch.length < batchSize; next++) {
      const line = lines[next] as RecordLine
      chars += line.json.length
      if (chars > batchChars && batch.length > 0) break
      batch.push(line)
    }
    return batch
  }
}
