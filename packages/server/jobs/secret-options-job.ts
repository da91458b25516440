import { HOUR_MS, type JobLog, openPeriodicJob, type PeriodicJob } from './periodic-job.ts'

export interface SecretOptionsJobOptions {
  /** Returns how many provider credentials were changed. */
  readonly seal: () => Promise<number>
  readonly log: JobLog
  readonly everyMs?: number
}

/**
 * Encrypts secret options of provider credentials that an earlier version stored in clear, at once and every hour, since
 * processes of that version may run beside this one during an upgrade. Resolves after the first run. A run that fails is
 * logged; the gateway reads both forms.
 */
export async function openSecretOptionsJob(options: SecretOptionsJobOptions): Promise<PeriodicJob> {
  const { seal, log, everyMs = HOUR_MS } = options
  const job = openPeriodicJob(async () => {
    try {
      const credentials = await seal()
      if (credentials > 0) log.info({ credentials }, 'encrypted secret options of provider credentials')
    } catch (error) {
      log.error(
        { err: error },
        'secret options of provider credentials could not be encrypted; retrying in the next run',
      )
    }
  }, everyMs)
  await job.first
  return job
}
