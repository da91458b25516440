import type { Clock } from '../core/chance.ts'
import type { RetentionResult } from '../storage/retention.ts'
import { HOUR_MS, openPeriodic } from './periodic.ts'

export interface RetentionJob {
  /** Ends a run that is under way after its batch at hand, and resolves then. */
  close(): Promise<void>
}

export interface RetentionJobOptions {
  readonly clock: Clock
  /** undefined: another process is at it. */
  readonly apply: (now: Date, signal: AbortSignal) => Promise<RetentionResult | undefined>
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  readonly everyMs?: number
}

/** Applies the log's retention at once and every hour; a run that fails is tried again by the next one. */
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
        log.info(result, 'the request log was cut to its retention')
      }
    } catch (error) {
      log.error({ err: error }, 'the request log could not be cut to its retention')
    }
  }

  const job = openPeriodic(run, everyMs)
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
