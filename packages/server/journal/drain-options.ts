import type { Log } from '../core/log.ts'
import type { RecordBatch, RecordLine } from '../core/records/request-record.ts'
import type { Journal } from './journal.ts'
import type { RecordBatchesOptions } from './record-batches.ts'

export interface DrainOptions
  extends Pick<RecordBatchesOptions, 'insert'>,
    Partial<Pick<RecordBatchesOptions, 'batchSize' | 'batchChars'>> {
  readonly folder: string
  readonly journal: Journal
  /** Opens a batch for records of this run. Absent: they wait as lines and go to `insert`. */
  readonly openBatch?: () => RecordBatch
  readonly log: Pick<Log, 'error' | 'warn'>
  /**
   * Called with the records of a killed run once they are in the database: those of ended requests, and the open lines of
   * the others. They come by segments, each read from its file when it is asked for. The files are kept until the promise resolves,
   * so that after another kill it is called again. Absent: nothing has to be notified.
   */
  readonly onReplayed?: (records: AsyncIterable<readonly RecordLine[]>) => Promise<void>
  /** Runs the insert of a segment of a killed run. Absent: at once. */
  readonly runAlone?: <T>(work: () => Promise<T>) => Promise<T>
  readonly flushEveryMs?: number
  /** The most records in memory, and the most characters of their lines. Further records wait in the segments only. */
  readonly maxQueued?: number
  readonly maxQueuedChars?: number
  /** The size in bytes above which the journal is full. Absent: it never is. */
  readonly maxBytes?: number
}
