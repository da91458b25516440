import type { Clock } from '../core/clock.ts'
import type { RetentionResult } from '../storage/records/retention.ts'
import { HOUR_MS, type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

export interface RetentionJobOptions {
  readonly clock: Clock
  /** Removes expired log rows; undefined: another process is doing so. The signal stops it after its current batch. */
  readonly apply: (now: Date, signal: AbortSignal) => Promise<RetentionResult | undefined>
  readonly log: JobLog
  readonly everyMs?: number
}

/** Removes expired rows of the request log at once and every hour. A run that fails is logged; the next one tries again. */
export function openRetentionJob({ clock, apply, log, everyMs = HOUR_MS }: RetentionJobOptions): PeriodicJob {
  return openPeriodicJob(async signal => {
    try {
      const result = await apply(new Date(clock.now()), signal)
      if (result !== undefined && (result.droppedPartitions.length > 0 || result.deletedRows > 0)) {
        log.info(result, 'removed expired rows of the request log')
      }
    } catch (error) {
      log.error(
        { err: error },
        'expired rows of the request log could not be removed; retrying in the next run',
      )
    }
  }, everyMs)
}
