import type { OnException } from '../../core/on-exception.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import type { ProviderCounts } from '../attempts/provider-counts.ts'
import type { LearnedUse } from '../limits/learned-use.ts'

/** What writing records needs of the process. */
export interface RecordDeps {
  /**
   * Reports exceptions that no caller waits for. Exceptions that affect one request are passed to that request's
   * `fail`.
   */
  readonly onException: OnException
  readonly learned: LearnedUse
  readonly providerCounts: ProviderCounts
  /** Persists what a request counts as if this process is killed before the request ends. */
  readonly openRecord: (estimate: RequestRecord) => void
  /** True if other processes share the counters, so reservations outlive this process. */
  readonly isLedgerShared: boolean
  /** Resolves when the record is durable. Never rejects. */
  readonly writeRecord: (record: RequestRecord) => Promise<void>
}
