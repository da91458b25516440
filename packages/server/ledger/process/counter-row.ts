import type { Meter, MeterSubject, Seed } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { ShortTicks } from '../../core/short-ticks.ts'
import { type CountingRule, ruleOf, settledAmount } from '../rules/counting-rules.ts'
import { RollingCounter } from './rolling-counter.ts'

/** The counter of a fixed window or of concurrency: two sums. */
export interface SumCounter {
  readonly kind: 'sum'
  settled: number
  reserved: number
}

/** One counter of the process, with what is known about it. */
export interface CounterRow {
  /** The meter that it was opened for. Only its limit may differ from the meters of later requests. */
  readonly meter: Meter
  readonly rule: CountingRule
  readonly counter: SumCounter | RollingCounter
  /** Number of the row in order of opening. Reservations made before the row was opened have no share of it. */
  readonly sequence: number
  /** Seeded. Nothing is reserved before. */
  isReady: boolean
  /** Requests that ended while the row was being seeded. */
  pending: EndedRequest[]
  /** The highest alert threshold that was reported. */
  alertedUpTo: number
  /** Used since it was last looked at to crowd it out. */
  isTouched: boolean
  /** The reservations with a share of it, expired ones included. */
  shareCount: number
}

export interface EndedRequest {
  readonly id: string
  /** Time of arrival, in Unix milliseconds. */
  readonly arrivedAt: number
  /** Time of admission, in Unix milliseconds. */
  readonly at: number
  readonly subject: MeterSubject
  readonly usage: MeteredUsage
}

export function createRow(meter: Meter, sequence: number, isReady: boolean): CounterRow {
  return {
    meter,
    rule: ruleOf(meter),
    counter:
      meter.kind === 'rolling'
        ? new RollingCounter(meter.windowMs)
        : { kind: 'sum', settled: 0, reserved: 0 },
    sequence,
    isReady,
    pending: [],
    alertedUpTo: 0,
    isTouched: true,
    shareCount: 0,
  }
}

/** Gives a row its seed, in short ticks: it may have 20,000 entries. The row is not ready before `openSeeded`. */
export async function seedRow(
  { counter }: CounterRow,
  seed: Seed,
  ticks: Pick<ShortTicks, 'isOver' | 'next'>,
): Promise<void> {
  if (counter.kind === 'sum') {
    counter.settled += seed.used
    return
  }
  for (const { at, amount } of seed.entries) {
    counter.insert(at, amount)
    if (ticks.isOver) await ticks.next()
  }
}

/** Gives a row that has its seed what ended meanwhile. It is ready then. */
export function openSeeded(row: CounterRow): void {
  for (const ended of row.pending) addEnded(row, ended)
  row.pending = []
  row.isReady = true
}

/** Counts a request that ended without a share of this row. */
export function addEnded({ meter, rule, counter }: CounterRow, { at, usage }: EndedRequest): void {
  const amount = settledAmount(rule, meter, usage)
  if (counter.kind === 'rolling') counter.insert(at, amount)
  else counter.settled += amount
}

/** How long a window that has ended is kept. The next window of its series then needs no seed. */
const ENDED_KEPT_MS = 3_600_000

/** Returns true if a row counts nothing at `at` that a later request could need. */
export function isIdle({ meter, counter }: CounterRow, at: number): boolean {
  if (counter.kind === 'rolling') {
    counter.expireEntries(at)
    return counter.oldestAt() === null
  }
  if (meter.kind !== 'fixed') return true
  return meter.end !== null && meter.end + ENDED_KEPT_MS <= at
}
