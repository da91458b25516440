import { HOUR_MS, type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

export interface DeletedSecretsJobOptions {
  /** Removes the secrets of deleted projects and organizations. The signal stops it after its current batch. */
  readonly remove: (signal: AbortSignal) => Promise<void>
  readonly log: Pick<JobLog, 'error'>
}

/** Removes the secrets of deleted projects and organizations at once and every hour. A run that fails is logged; the next one goes on. */
export function openDeletedSecretsJob({ remove, log }: DeletedSecretsJobOptions): PeriodicJob {
  return openPeriodicJob(async signal => {
    try {
      await remove(signal)
    } catch (error) {
      const message = 'secrets of deleted projects could not be removed; retrying in the next run'
      log.error({ err: error }, message)
    }
  }, HOUR_MS)
}
