import type { ClearedPlans } from '../storage/policies/deleted-plans.ts'
import { HOUR_MS, type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

export interface DeletedPlansJobOptions {
  /** Takes deleted plans off their end users and removes them. The signal stops it after its current batch. */
  readonly clear: (signal: AbortSignal) => Promise<ClearedPlans>
  readonly log: JobLog
  readonly everyMs?: number
}

/** Clears deleted plans at once and every hour. A run that fails is logged; the next one goes on. */
export function openDeletedPlansJob({ clear, log, everyMs = HOUR_MS }: DeletedPlansJobOptions): PeriodicJob {
  return openPeriodicJob(async signal => {
    try {
      const cleared = await clear(signal)
      if (cleared.clearedEndUsers > 0) log.info(cleared, 'took deleted plans off their end users')
    } catch (error) {
      log.error(
        { err: error },
        'deleted plans could not be taken off their end users; retrying in the next run',
      )
    }
  }, everyMs)
}
