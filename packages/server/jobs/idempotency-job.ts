import { type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

/** Between two runs an environment may have more than its share. */
const EVERY_MS = 300_000

export interface IdempotencyJobOptions {
  /**
   * Removes expired answers and those beyond an environment's share; undefined: another process is doing so. The signal stops it
   * after its current batch.
   */
  readonly expire: (
    signal: AbortSignal,
  ) => Promise<{ readonly expired: number; readonly surplus: number } | undefined>
  readonly log: JobLog & { warn(details: object, message: string): void }
  readonly everyMs?: number
}

/** Removes answers that are kept no longer, at once and every five minutes. A run that fails is logged; the next one tries again. */
export function openIdempotencyJob({ expire, log, everyMs = EVERY_MS }: IdempotencyJobOptions): PeriodicJob {
  return openPeriodicJob(async signal => {
    try {
      const removed = await expire(signal)
      if (removed === undefined) return
      if (removed.expired > 0) log.info(removed, 'removed expired answers of idempotency keys')
      if (removed.surplus > 0)
        log.warn(removed, 'removed answers of idempotency keys early: an environment has too many')
    } catch (error) {
      log.error({ err: error }, 'expired answers of idempotency keys could not be removed; retrying later')
    }
  }, everyMs)
}
