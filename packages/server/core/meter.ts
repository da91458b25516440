import type { FaultCode } from './fault-table.ts'

/**
 * What a meter counts, in whole numbers: requests, tokens (input and output of every kind), nano-dollars, or requests
 * that are running.
 */
export type Metric = 'requests' | 'tokens' | 'nano_usd' | 'in_flight'

/** Whose requests a meter counts: every field that is not null has to be theirs. */
export interface MeterSubject {
  readonly orgId: string
  readonly projectId: string | null
  readonly environmentId: string | null
  readonly keyId: string | null
  /** As the caller names it; only beside an environment. */
  readonly endUserId: string | null
  /** Leaves out what the sandbox answers: an organization's spend (contract.md §3). */
  readonly isRealOnly: boolean
}

/** What an error or a header says of the policy behind a meter. */
export interface MeterSource {
  readonly kind: 'limit' | 'quota' | 'budget' | 'plan'
  /** The limit's, quota's, budget's or plan's own id. */
  readonly id: string
  readonly scope: 'org' | 'project' | 'environment' | 'key' | 'end_user'
  /** The id of what is limited, or the end user's external id. */
  readonly ref: string
  /** By contract.md §4, "Which limit gives which code". */
  readonly code: FaultCode
}

interface MeterBase {
  /**
   * Names the counter: the same for as long as it counts the same thing of the same subject in the same window, whatever
   * its limit. No two meters of one request share it.
   */
  readonly key: string
  readonly subject: MeterSubject
  readonly source: MeterSource
  /** settled + held never goes above it. With its grace, where it has one. Whole, at least 0. */
  readonly limit: number
  /** The limit as it was set, without grace; what people are told. */
  readonly nominalLimit: number
  /** Amounts, ascending, whose first crossing within a window raises an alert. */
  readonly alertAt: readonly number[]
  /** Unix milliseconds: nothing before it counts, and a counter that is new reads what was used from here on. */
  readonly since: number
}

/** So much in any span of `windowMs`, exactly: what was admitted at t counts at every instant of [t, t + windowMs). */
export interface RollingMeter extends MeterBase {
  readonly kind: 'rolling'
  readonly metric: 'requests' | 'tokens'
  readonly windowMs: number
}

/** So much in a calendar window, which its key names. A request counts in the window that it was admitted in. */
export interface SpanMeter extends MeterBase {
  readonly kind: 'span'
  /** The key without its window: the same from one window to the next. */
  readonly series: string
  readonly metric: 'requests' | 'tokens' | 'nano_usd'
  /** `since` is its start. Unix milliseconds; null: it never ends (`total`). */
  readonly end: number | null
}

/** So many at once. */
export interface ConcurrencyMeter extends MeterBase {
  readonly kind: 'concurrency'
  readonly metric: 'in_flight'
}

/** One counter that concerns a request, with the limit that it is held to. */
export type Meter = RollingMeter | SpanMeter | ConcurrencyMeter

/** What a new counter begins with. */
export interface Seed {
  /** Of a span meter: the sum. Of a rolling meter: the sum of `entries`. */
  readonly used: number
  /** Of a rolling meter: what still counts, oldest first. Empty for others. */
  readonly entries: readonly { readonly at: number; readonly amount: number }[]
}
