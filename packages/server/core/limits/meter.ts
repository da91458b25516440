import type { FaultCode } from '../fault-table.ts'
import type { OnTight } from '../tenancy/policies.ts'

/** What a meter counts, in whole numbers: requests, tokens of every kind, nano-dollars, or running requests. */
export type Metric = 'requests' | 'tokens' | 'nano_usd' | 'in_flight'

/** Which requests a meter counts: those that match every field that is not null. */
export interface MeterSubject {
  readonly orgId: string
  readonly projectId: string | null
  readonly environmentId: string | null
  /** The original of the keys that count (Key.originalId). */
  readonly keyId: string | null
  /** The end user's id as callers send it. Only set together with `environmentId`. */
  readonly endUserId: string | null
  /** True: answers of the sandbox provider are not counted. An organization's budgets count real spend only. */
  readonly excludesSandbox: boolean
}

/** The policy behind a meter, as errors and headers name it. */
export interface MeterSource {
  readonly kind: 'limit' | 'quota' | 'budget' | 'plan'
  /** Id of the limit, quota, budget or plan. */
  readonly id: string
  readonly scope: 'org' | 'project' | 'environment' | 'key' | 'end_user'
  /** Id of the limited organization, project or environment, or of the key's original, or the end user's id as callers send it. */
  readonly ref: string
  /** Error code of a refusal. */
  readonly code: FaultCode
  /** What a budget does with an output cap that does not fit. Other limits lower the cap. */
  readonly onTight?: OnTight
}

interface MeterBase {
  /**
   * Identifies the counter. Equal for meters that count the same metric of the same subject in the same window, whatever
   * their limits. Two meters of one request never share a key.
   */
  readonly key: string
  readonly subject: MeterSubject
  readonly source: MeterSource
  /** Upper bound of settled plus reserved, grace included. A whole number, at least 0. */
  readonly limit: number
  /** The limit as configured, without grace: the one that errors and headers show. */
  readonly nominalLimit: number
  /** Settled amounts, ascending, that raise an alert when they are first reached within a window. */
  readonly alertThresholds: readonly number[]
  /** Unix milliseconds. Earlier requests are not counted; a new counter is seeded with usage from here on. */
  readonly since: number
  /** When the policy was last changed, in Unix milliseconds. It may have had another counter before. */
  readonly changedAt: number
}

/** Limits every span of `windowMs`: a request admitted at t counts from t up to, but not at, t + `windowMs`. */
export interface RollingMeter extends MeterBase {
  readonly kind: 'rolling'
  readonly metric: 'requests' | 'tokens'
  readonly windowMs: number
}

/** Limits a fixed window: a calendar hour, day, week or month, or all time. A request counts in the window of its admission. */
export interface FixedMeter extends MeterBase {
  readonly kind: 'fixed'
  /** The key without its window: equal for all windows of one policy and subject. */
  readonly series: string
  readonly metric: 'requests' | 'tokens' | 'nano_usd'
  /** Unix milliseconds at which the window that began at `since` ends. null: never (`total`). */
  readonly end: number | null
}

/** Limits how many requests run at the same time. */
export interface ConcurrencyMeter extends MeterBase {
  readonly kind: 'concurrency'
  readonly metric: 'in_flight'
}

/** A counter that a request is checked against, and the limit of that check. */
export type Meter = RollingMeter | FixedMeter | ConcurrencyMeter

/** Usage from before a counter existed. */
export interface Seed {
  /** The sum; of a rolling meter, the sum of `entries`. */
  readonly used: number
  /** What is still within the window of a rolling meter, oldest first. Empty for other meters. */
  readonly entries: readonly { readonly at: number; readonly amount: number }[]
}
