import { toBucketRate } from '../../core/admission/token-bucket.ts'
import { TokenBuckets } from '../../core/admission/token-buckets.ts'
import { Fault } from '../../core/fault.ts'
import type { IdentifiedContext } from '../request/request-context.ts'

/** Requests of one key, or of one end user with client tokens, which this process cannot answer alone. */
const CALLER_RATE = toBucketRate(50, 10)
/** The requests of one environment that this process cannot answer alone. */
const ENVIRONMENT_RATE = toBucketRate(200, 10)
const MAX_KEYS = 20_000

/**
 * Bounds how often callers make this process ask all others: for a request to cancel that it does not run, or the record of a
 * request to rate that it has not stored. Such a request costs every process of the machine, or every gateway, some work.
 */
export class FanOutRates {
  readonly #callers = new TokenBuckets(CALLER_RATE, MAX_KEYS)
  readonly #environments = new TokenBuckets(ENVIRONMENT_RATE, MAX_KEYS)

  /** Counts such a request of a caller. Throws 429 `rate_limit_exceeded`. `now`: Unix milliseconds. */
  take({ caller, environment }: Pick<IdentifiedContext, 'caller' | 'environment'>, now: number): void {
    // Only the last part, the end user's id, may have a space.
    const key = `${environment.id} ${caller.keyId ?? ''} ${caller.endUser?.id ?? ''}`
    const waitMs = this.#callers.take(key, now)
    if (waitMs > 0) throw tooMany('This credential', waitMs)
    const othersMs = this.#environments.take(environment.id, now)
    if (othersMs === 0) return
    this.#callers.refund(key)
    throw tooMany('This environment', othersMs)
  }
}

function tooMany(who: string, waitMs: number): Fault {
  const retryAfterSeconds = waitMs / 1000
  const message = `${who} cancels or rates too many requests that this gateway process does not know. Try again in ${Math.ceil(retryAfterSeconds)} s.`
  return new Fault('rate_limit_exceeded', message, { retryAfterSeconds })
}
