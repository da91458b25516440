import type { Clock } from '../core/clock.ts'
import type { RetentionResult } from '../storage/records/retention.ts'
import { HOUR_MS, openPeriodicJob } from './periodic-job.ts'

export interface RetentionJob {
  /** Stops a run after its current batch and resolves when it has ended. */
  close(): Promise<void>
}

export interface RetentionJobOptions {
  readonly clock: Clock
  /** Removes expired log rows; undefined: another process is doing so. */
  readonly apply: (now: Date, signal: AbortSignal) => Promise<RetentionResult | undefined>
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  readonly everyMs?: number
}

/** Removes expired rows of the request log at once and every hour. A run that fails is logged; the next one tries again. */
export function openRetentionJob({
  clock,
  apply,
  log,
  everyMs = HOUR_MS,
}: RetentionJobOptions): RetentionJob {
  const closing = new AbortController()

  async function run(): Promise<void> {
    try {
      const result = await apply(new Date(clock.now()), closing.signal)
      if (result !== undefined && (result.droppedPartitions.length > 0 || result.deletedRows > 0)) {
        log.info(result, 'removed expired rows of the request log')
      }
    } catch (error) {
      log.error(
        { err: error },
        'expired rows of the request log could not be removed; retrying in the next run',
      )
    }
  }

  const job = openPeriodicJob(run, everyMs)
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
