import type { Clock } from '../core/clock.ts'
import { LogPace } from '../core/log-pace.ts'
import type { SettledMeter } from '../storage/events/alert-policies.ts'
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
   * Meters that have reached a threshold, of organizations with usage since a time. undefined: of all organizations. The signal tells that
   * the job ends.
   */
  readonly sweep: (since: Date | undefined, at: number, signal: AbortSignal) => AsyncIterable<SettledMeter>
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
  /** By organization and meter. No organization's map is empty. */
  const waiting = new Map<string, Map<string, SettledMeter>>()
  let count = 0
  const pace = new LogPace()
  let sweptAt: number | undefined
  let isClosing = false

  function note(settled: SettledMeter): void {
    const { key, subject } = settled.meter
    const own = waiting.get(subject.orgId) ?? new Map<string, SettledMeter>()
    const before = own.get(key)
    if (before !== undefined && before.settled >= settled.settled) return
    if (before === undefined) {
      if (own.size >= MAX_WAITING_OF_ONE || count >= MAX_WAITING) {
        const message = 'too many alerts are waiting; the next sweep will raise this one'
        if (pace.isDue(performance.now())) log.error({ counter: key }, message)
        return
      }
      count++
    }
    waiting.set(subject.orgId, own.set(key, settled))
  }

  /** Removes and returns the first meter of the next organization: one whose end users all reach a threshold delays no other. */
  function take(): SettledMeter | undefined {
    for (const [orgId, own] of waiting) {
      for (const [key, settled] of own) {
        own.delete(key)
        count--
        waiting.delete(orgId)
        if (own.size > 0) waiting.set(orgId, own)
        return settled
      }
    }
    return undefined
  }

  async function flush(): Promise<void> {
    for (let settled = take(); settled !== undefined; settled = take()) {
      try {
        await raise(settled)
      } catch (error) {
        note(settled)
        log.error({ err: error, waiting: count }, 'an alert could not be raised; retrying in a second')
        return
      }
    }
  }

  async function runSweep(signal: AbortSignal): Promise<void> {
    const at = clock.now()
    const since = sweptAt === undefined ? undefined : new Date(sweptAt - MAX_RECORD_DELAY_MS)
    try {
      for await (const settled of sweep(since, at, signal)) {
        if (isClosing) return
        await raise(settled)
      }
      sweptAt = at
    } catch (error) {
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
