import type { Log } from '../log.ts'

/** What the front door refuses for. */
export type RefusalReason = 'key_rate' | 'end_user_rate' | 'address_rate' | 'open_requests' | 'body_bytes'

export const REFUSAL_REASONS: readonly RefusalReason[] = [
  'key_rate',
  'end_user_rate',
  'address_rate',
  'open_requests',
  'body_bytes',
]

/** The time in which each reason is logged at most once. */
const LOG_EVERY_MS = 60_000

interface Tally {
  total: number
  /** Refusals since the last line of the log. */
  unlogged: number
  loggedAt: number
}

/**
 * Counts refusals for `/metrics`. A refused request leaves no record, and a flood of them one line a minute: it must cost
 * neither disk nor the log's readers.
 */
export class RefusalCounter {
  readonly #log: Pick<Log, 'warn'>
  readonly #tallies = new Map<RefusalReason, Tally>(
    REFUSAL_REASONS.map(reason => [reason, { total: 0, unlogged: 0, loggedAt: Number.NEGATIVE_INFINITY }]),
  )

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  /** `by`: who was refused, for the log. `now`: milliseconds of a monotonic clock. */
  count(reason: RefusalReason, by: string, now: number): void {
    const tally = this.#tallies.get(reason) as Tally
    tally.total++
    tally.unlogged++
    if (now - tally.loggedAt < LOG_EVERY_MS) return
    this.#log.warn({ reason, refused: tally.unlogged, by }, 'the front door refuses requests')
    tally.unlogged = 0
    tally.loggedAt = now
  }

  of(reason: RefusalReason): number {
    return (this.#tallies.get(reason) as Tally).total
  }
}
