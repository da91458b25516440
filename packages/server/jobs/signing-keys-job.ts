import type { Clock } from '../core/chance.ts'
import { HOUR_MS, openPeriodic } from './periodic.ts'

export interface SigningKeysJobOptions {
  readonly clock: Clock
  readonly rotate: (now: number) => Promise<{ readonly made: number }>
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  readonly everyMs?: number
}

/**
 * Keeps the keys of client tokens to their schedule (core/signing-schedule.ts), at once and every hour. Resolves after
 * the first run, so that whoever serves next has keys. One that fails stops nothing: the next one is a day ahead of need.
 */
export async function openSigningKeysJob(
  options: SigningKeysJobOptions,
): Promise<{ close(): Promise<void> }> {
  const { clock, rotate, log, everyMs = HOUR_MS } = options
  const job = openPeriodic(async () => {
    try {
      const { made } = await rotate(clock.now())
      if (made > 0) log.info({ made }, 'new keys for client tokens')
    } catch (error) {
      log.error({ err: error }, 'the keys of client tokens could not be kept to their schedule')
    }
  }, everyMs)
  await job.first
  return job
}
