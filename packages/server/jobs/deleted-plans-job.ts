import type { ClearedPlans } from '../storage/policies/deleted-plans.ts'
import { HOUR_MS, openPeriodicJob } from './periodic-job.ts'

export interface DeletedPlansJobOptions {
  /** Takes deleted plans off their end users and removes them. */
  readonly clear: (signal: AbortSignal) => Promise<ClearedPlans>
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  readonly everyMs?: number
}

/** Clears deleted plans at once and every hour. A run that fails is logged; the next one goes on. */
export function openDeletedPlansJob({ clear, log, everyMs = HOUR_MS }: DeletedPlansJobOptions): {
  /** Stops a run after its current batch and resolves when it has ended. */
  close(): Promise<void>
} {
  const closing = new AbortController()
  const job = openPeriodicJob(async () => {
    try {
      const cleared = await clear(closing.signal)
      if (cleared.clearedEndUsers > 0) log.info(cleared, 'took deleted plans off their end users')
    } catch (error) {
      log.error(
        { err: error },
        'deleted plans could not be taken off their end users; retrying in the next run',
      )
    }
  }, everyMs)
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
