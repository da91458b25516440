import type { Clock } from '../core/chance.ts'
import type { Standing } from '../storage/alerts.ts'
import { openPeriodic } from './periodic.ts'

/** How long a crossing waits in memory, and how often what was missed is looked for. */
const FLUSH_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 600_000
/** Records of a request may come this much later than it. */
const LATE_MS = 2 * 3_600_000
/** Noted at once; what is beyond is told, and found by the sweep. */
const MOST_NOTED = 50_000

export interface AlertsJobOptions {
  readonly clock: Clock
  /** Raises what was not yet; the same standing twice raises once. */
  readonly raise: (standing: Standing) => Promise<unknown>
  /** What stands at or above a threshold, of organizations with usage since then; undefined: of all. */
  readonly sweep: (since: Date | undefined, at: number) => AsyncIterable<Standing>
  readonly log: { error(details: object, message: string): void }
  readonly flushEveryMs?: number
  readonly sweepEveryMs?: number
}

export interface AlertsJob {
  /** A counter reached a threshold: raised within a second. Never throws, never waits. */
  note(standing: Standing): void
  /** Raises what was noted. */
  close(): Promise<void>
}

/**
 * Raises alerts: at once what the limits' own counters notice, and by the usage ledger, at the start and every ten
 * minutes, what a process noticed and could not store before it died.
 */
export function openAlertsJob(options: AlertsJobOptions): AlertsJob {
  const { clock, raise, sweep, log } = options
  const { flushEveryMs = FLUSH_EVERY_MS, sweepEveryMs = SWEEP_EVERY_MS } = options
  const noted = new Map<string, Standing>()
  let sweptAt: number | undefined
  let isClosing = false

  function note(standing: Standing): void {
    const { key } = standing.meter
    const before = noted.get(key)
    if (before !== undefined && before.settled >= standing.settled) return
    if (noted.size < MOST_NOTED || before !== undefined) noted.set(key, standing)
    else log.error({ counter: key }, 'too many alerts wait: one is left to the next look at the usage ledger')
  }

  async function flush(): Promise<void> {
    for (const [key, standing] of noted) {
      noted.delete(key)
      try {
        await raise(standing)
      } catch (error) {
        note(standing)
        log.error({ err: error, waiting: noted.size }, 'an alert could not be raised yet')
        return
      }
    }
  }

  async function look(): Promise<void> {
    const at = clock.now()
    try {
      for await (const standing of sweep(
        sweptAt === undefined ? undefined : new Date(sweptAt - LATE_MS),
        at,
      )) {
        if (isClosing) return
        await raise(standing)
      }
      sweptAt = at
    } catch (error) {
      log.error({ err: error }, 'budgets and quotas could not be looked at for alerts')
    }
  }

  const flushing = openPeriodic(flush, flushEveryMs)
  const looking = openPeriodic(look, sweepEveryMs)
  return {
    note,
    async close() {
      isClosing = true
      await Promise.all([looking.close(), flushing.close()])
      await flush()
    },
  }
}
