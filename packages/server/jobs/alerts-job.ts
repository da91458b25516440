import type { Clock } from '../core/clock.ts'
import { LogPace } from '../core/log-pace.ts'
import type { SettledMeter } from '../storage/events/alert-policies.ts'
import { OwnerLines } from './owner-lines.ts'
import { openPeriodicJob } from './periodic-job.ts'

/** How long a reported meter waits in memory at most. */
const FLUSH_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 600_000
/** A request's record may be stored this long after the request began. */
const MAX_RECORD_DELAY_MS = 2 * 3_600_000
/** Meters of one organization, and of all, that wait at once. A meter beyond that is dropped and found by the next sweep. */
const MAX_WAITING_OF_ONE = 1_000
const MAX_WAITING = 50_000

export interface AlertsJobOptions {
  readonly clock: Clock
  /** Raises the thresholds that the meter has reached. Raising one again has no effect. */
  readonly raise: (settled: SettledMeter) => Promise<unknown>
  /**
   * Meters that have reached a threshold, of organizations with usage since a time, and of those to be read again. undefined: of all
   * organizations. The signal tells that the job ends.
   */
  readonly sweep: (
    since: Date | undefined,
    at: number,
    signal: AbortSignal,
    again: readonly string[],
  ) => AsyncIterable<SettledMeter>
  readonly log: { error(details: object, message: string): void }
  readonly flushEveryMs?: number
  readonly sweepEveryMs?: number
}

export interface AlertsJob {
  /** Reports that a meter has reached a threshold; the alert is raised within a second. Returns at once, never throws. */
  note(settled: SettledMeter): void
  /** Ends the job and raises what was reported. */
  close(): Promise<void>
}

/**
 * Raises alerts of budgets and quotas: those that the ledger's meters report, at once, and those that a process detected
 * but could not store before it died, by a sweep of the usage records at the start and every ten minutes.
 */
export function openAlertsJob(options: AlertsJobOptions): AlertsJob {
  const { clock, raise, sweep, log } = options
  const { flushEveryMs = FLUSH_EVERY_MS, sweepEveryMs = SWEEP_EVERY_MS } = options
  const lines = new OwnerLines<SettledMeter>({
    maxOfOne: MAX_WAITING_OF_ONE,
    max: MAX_WAITING,
    merge: (earlier, later) => (later.settled > earlier.settled ? later : earlier),
  })
  /** Organizations of which a meter was dropped, for the next sweep. */
  const dropped = new Set<string>()
  const pace = new LogPace()
  let sweptAt: number | undefined
  let isClosing = false

  function note(settled: SettledMeter): void {
    const { key, subject } = settled.meter
    if (lines.add(subject.orgId, key, settled)) return
    dropped.add(subject.orgId)
    const message = 'too many alerts are waiting; the next sweep will raise this one'
    if (pace.isDue(performance.now())) log.error({ counter: key }, message)
  }

  function logFailure(error: unknown, orgId: string): void {
    const message = 'an alert could not be raised; retrying in a second'
    log.error({ err: error, orgId, waiting: lines.size }, message)
  }

  function flush(): Promise<void> {
    return lines.drain(raise, logFailure)
  }

  async function runSweep(signal: AbortSignal): Promise<void> {
    const at = clock.now()
    const since = sweptAt === undefined ? undefined : new Date(sweptAt - MAX_RECORD_DELAY_MS)
    /** Organizations whose other alerts wait for the next flush, so that they delay the sweep no further. */
    const failed = new Set<string>()
    const again = [...dropped]
    dropped.clear()
    try {
      for await (const settled of sweep(since, at, signal, again)) {
        if (isClosing) return
        const { orgId } = settled.meter.subject
        try {
          if (failed.has(orgId)) note(settled)
          else await raise(settled)
        } catch (error) {
          failed.add(orgId)
          note(settled)
          logFailure(error, orgId)
        }
      }
      sweptAt = at
    } catch (error) {
      for (const orgId of again) dropped.add(orgId)
      log.error({ err: error }, 'usage could not be swept for alerts; retrying in the next sweep')
    }
  }

  const flushing = openPeriodicJob(flush, flushEveryMs)
  const sweeping = openPeriodicJob(runSweep, sweepEveryMs)
  return {
    note,
    async close() {
      isClosing = true
      await Promise.all([sweeping.close(), flushing.close()])
      await flush()
    },
  }
}
