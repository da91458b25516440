import type { OnException } from '../../core/on-exception.ts'
import type { RequestRecord } from '../../core/request-record.ts'
import type { LearnedUse } from '../limits/learned-use.ts'

/** What writing records needs of the process. */
export interface RecordDeps {
  /** For what no caller waits for; what harms one request goes to that request's `fail`. */
  readonly onException: OnException
  readonly learned: LearnedUse
  /** Makes durable what a request counts as if this process is killed before it ends. */
  readonly openRecord: (estimate: RequestRecord) => void
  /** Other processes count with the same counters: what this process holds of them outlives it. */
  readonly isLedgerShared: boolean
  /** Resolves when the record is durable; never rejects. */
  readonly writeRecord: (record: RequestRecord) => Promise<void>
}
