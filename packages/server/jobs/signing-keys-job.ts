import type { Clock } from '../core/clock.ts'
import { HOUR_MS, type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

export interface SigningKeysJobOptions {
  readonly clock: Clock
  /** `now` in Unix milliseconds. Returns how many keys were created. */
  readonly rotate: (now: number) => Promise<{ readonly made: number }>
  readonly log: JobLog
  readonly everyMs?: number
}

/**
 * Rotates the signing keys of client tokens by their schedule (core/access/signing-schedule.ts), at once and every hour.
 * Resolves after the first run, so that there are keys when the gateway starts to serve. A run that fails is logged; keys
 * are created a day before they sign, so a later run is still in time.
 */
export async function openSigningKeysJob(options: SigningKeysJobOptions): Promise<PeriodicJob> {
  const { clock, rotate, log, everyMs = HOUR_MS } = options
  const job = openPeriodicJob(async () => {
    try {
      const { made } = await rotate(clock.now())
      if (made > 0) log.info({ made }, 'created signing keys for client tokens')
    } catch (error) {
      log.error(
        { err: error },
        'signing keys of client tokens could not be rotated; retrying in the next run',
      )
    }
  }, everyMs)
  await job.first
  return job
}
