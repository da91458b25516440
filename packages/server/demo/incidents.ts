import type { FaultCode } from '../core/fault-table.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What an incident makes of a request. */
export interface Incident {
  /** The provider answers 503. An alias falls back; a request for its models fails. */
  isOut(provider: string): boolean
  /** What the time to the first byte is multiplied by. */
  slowness(provider: string): number
  failure(provider: string): FaultCode | undefined
  /** The key that makes the request, if it is busier than usual. */
  readonly keyName: string | undefined
}

/** The key that runs wild for a day and later uses up its budget, and the one that storms against its limit. */
export const BUSY_KEY = 'nightly-batch'
export const STORMING_KEY = 'mobile-app'

/** How long ago the last outage began and ended. */
export const OUTAGE_START_MS = 50 * MINUTE_MS
export const OUTAGE_END_MS = 10 * MINUTE_MS

/**
 * Returns what happened `agoMs` before the end of the demo: an outage of 40 minutes, a storm of 429 by one key, a key at ten times
 * its mean for a day, a credential that expired three days ago, and a provider that slows down over ten days.
 */
export function incidentAt(agoMs: number, random: () => number): Incident {
  const isBetween = (from: number, to: number): boolean => agoMs <= from && agoMs > to
  const isOutage =
    isBetween(12 * DAY_MS, 12 * DAY_MS - 40 * MINUTE_MS) || isBetween(OUTAGE_START_MS, OUTAGE_END_MS)
  const isStorm = isBetween(5 * DAY_MS, 5 * DAY_MS - 2 * HOUR_MS) && random() < 0.5
  const isBusy = isBetween(20 * DAY_MS, 19 * DAY_MS) && random() < 0.55
  const isExpired = agoMs <= 3 * DAY_MS
  const drift = Math.max(0, 1 - agoMs / (10 * DAY_MS))
  return {
    isOut: provider => isOutage && provider === 'anthropic',
    slowness: provider => (provider === 'gemini' ? 1 + 1.4 * drift : 1),
    failure: provider => {
      if (isStorm) return 'rate_limit_exceeded'
      return isExpired && provider === 'mistral' ? 'provider_auth_failed' : undefined
    },
    keyName: isStorm ? STORMING_KEY : isBusy ? BUSY_KEY : undefined,
  }
}
