import type { Meter, MeterSubject } from '../core/limits/meter.ts'
import type { MeteredUsage } from '../core/limits/metered-usage.ts'
import type { SeedSource } from './seed-source.ts'

/** Tokens and cost that a request reserves. Whole numbers, never negative. */
export interface Amounts {
  readonly tokens: number
  readonly nanoUsd: number
}

export interface ReserveRequest {
  /** The gateway's own id of the request, never one that a caller chose. */
  readonly id: string
  /** Unix milliseconds by the gateway's clock. Meters of fixed windows belong to this instant, and so does the usage record. */
  readonly arrivedAt: number
  /** Time of admission, in Unix milliseconds by the gateway's clock. Meters of rolling windows count the request from then on. */
  readonly at: number
  /** Every meter that limits the request. May be empty. */
  readonly meters: readonly Meter[]
  /** Whose request it is. Counters that are created while it runs find it by this. Only `endUserId` may be missing. */
  readonly subject: MeterSubject
  /** What to reserve. On meters of `requests` and `in_flight` a request also reserves 1 each. */
  readonly amounts: Amounts
  /** The reservation expires after this time unless it is extended. */
  readonly leaseMs: number
}

/** The state of a meter's counter. */
export interface MeterStatus {
  readonly meter: Meter
  /** Used by requests that have ended. A rolling meter counts only what is still within its window. */
  readonly settled: number
  /** Reserved by running requests. */
  readonly reserved: number
  /**
   * Unix milliseconds at which the window ends or, of a rolling meter, at which its oldest entry leaves the window.
   * null: the meter never resets, or nothing is counted.
   */
  readonly resetAt: number | null
}

/** The meter that refuses a request. */
export interface LimitRefusal extends MeterStatus {
  /** What the request would have added. */
  readonly wanted: number
  /**
   * Unix milliseconds from which the same request is admitted, provided that no other request arrives and no running one
   * uses less than it reserved. null: unknown (`in_flight`), or never (`total`, or `wanted` above the limit itself).
   */
  readonly retryAt: number | null
}

export type Verdict =
  /** Statuses in the order of the meters, this reservation included. */
  | { readonly isAdmitted: true; readonly statuses: readonly MeterStatus[] }
  /** The refusal with the longest wait, if several meters refuse. Nothing is reserved on any meter. */
  | { readonly isAdmitted: false; readonly refusal: LimitRefusal }
  /** The counters cannot be read, so the limits cannot be checked. The text says why; it is for logs. */
  | { readonly isAdmitted: false; readonly unavailable: string }

/** The usage of a request whose process was killed, taken from that process's journal. */
export interface RecoveredSettlement {
  readonly id: string
  readonly orgId: string
  readonly usage: MeteredUsage
}

/** The settled amount of a meter reached one of its alert thresholds. */
export interface ThresholdCrossing {
  readonly meter: Meter
  readonly threshold: number
  readonly settled: number
}

/**
 * Admits and settles requests over all their limits, quotas and budgets at once. There are three implementations,
 * ProcessLedger, SocketLedger and RedisLedger, and one conformance suite for all.
 *
 * Guarantees: settled + reserved <= limit on every meter at every instant, as long as requests use no more than they
 * reserved; and no request is refused while settled + reserved + wanted <= limit. Usage above a reservation is still
 * counted; spend never decreases.
 *
 * Methods that may return a promise do so only where they wait for something: `await` them only then.
 */
export interface Ledger {
  /** Identifies this process among those that share the counters. */
  readonly owner: string

  /**
   * Reserves on all meters or on none. Throws when a reservation with this id is running. New counters are seeded first;
   * concurrent callers share that read.
   */
  reserve(request: ReserveRequest): Verdict | Promise<Verdict>

  /**
   * Changes a reservation to these amounts, on all meters or on none, and renews its lease. The same amounts only renew it.
   * Smaller amounts always succeed. An expired reservation is restored first, whether its amounts still fit or not. The
   * time of admission does not change.
   */
  extend(id: string, amounts: Amounts, at: number, leaseMs: number): Verdict | Promise<Verdict>

  /**
   * Replaces the reservation with the usage. Idempotent: the first settle or release of an id counts, and an unknown id
   * changes nothing. Corrects a reservation that has expired. Never rejects.
   */
  settle(id: string, usage: MeteredUsage): void | Promise<void>

  /**
   * Settles requests of a killed process in counters that outlived it. Requests that are unknown there, or settled
   * already, change nothing. Call it after their usage records are stored. Resolves once the counters have all of them, however
   * long the store is unreachable.
   */
  settleRecovered(settlements: readonly RecoveredSettlement[]): Promise<void>

  /** Undoes the reservation as if the request had never come, rates included. Idempotent like `settle`. Never rejects. */
  release(id: string): void | Promise<void>

  /** Returns the current status of each meter, in order; undefined where the counters cannot be read. Seeds new counters. */
  read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined>

  /**
   * Ends reservations whose lease has run out: what they reserved counts as used, until their own settle corrects it. Leases run by a
   * clock of the store that nobody sets; `at` is for counters. Called periodically. Returns the number of reservations that expired.
   */
  expire(at: number): number | Promise<number>

  /** Whether limits are counted as configured, and why not. Readiness publishes the reasons. */
  health(): { readonly isHealthy: boolean; readonly reasons: readonly string[] }

  close(): Promise<void>
}

export interface LedgerOptions {
  readonly owner: string
  readonly seeds: SeedSource
  /**
   * Called when settled usage reaches a threshold, also when a counter is seeded above it. Each process calls it at most
   * once a crossing; the receiver deduplicates over processes. Must not throw.
   */
  readonly onThresholdCrossed: (crossing: ThresholdCrossing) => void
}
