import type { RemovedAnswers } from '../storage/idempotency/expire-answers.ts'
import { type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

/** Between two runs an organization may have more than its share. */
const EVERY_MS = 300_000
/** Why something was not removed is often the same for many organizations. */
const LOGGED_REASONS = 10

export interface IdempotencyJobOptions {
  /**
   * Removes expired answers and those beyond an organization's share; undefined: another process is doing so. The signal stops it
   * after its current batch.
   */
  readonly expire: (signal: AbortSignal) => Promise<RemovedAnswers | undefined>
  readonly log: JobLog & { warn(details: object, message: string): void }
  readonly everyMs?: number
}

/** Removes answers that are kept no longer, at once and every five minutes. What fails is logged; the next run tries again. */
export function openIdempotencyJob({ expire, log, everyMs = EVERY_MS }: IdempotencyJobOptions): PeriodicJob {
  return openPeriodicJob(async signal => {
    try {
      const removed = await expire(signal)
      if (removed === undefined) return
      const { expired, surplus, failures } = removed
      if (expired > 0) log.info({ expired, surplus }, 'removed expired answers of idempotency keys')
      if (surplus > 0)
        log.warn(
          { expired, surplus },
          'removed answers of idempotency keys early: an organization has too many',
        )
      if (failures.length > 0) {
        const reasons = failures.slice(0, LOGGED_REASONS).map(({ message }) => message)
        log.error(
          { count: failures.length, reasons },
          'some answers of idempotency keys could not be removed; retrying later',
        )
      }
    } catch (error) {
      log.error({ err: error }, 'expired answers of idempotency keys could not be removed; retrying later')
    }
  }, everyMs)
}
