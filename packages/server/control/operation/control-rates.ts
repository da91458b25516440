import { ProvenCredentials } from '../../core/access/proven-credentials.ts'
import { SlidingWindow } from '../../core/admission/sliding-window.ts'
import { type BucketRate, toBucketRate } from '../../core/admission/token-bucket.ts'
import { TokenBuckets } from '../../core/admission/token-buckets.ts'
import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import { toAddressGroup } from '../../http/head/client-address.ts'

const MINUTE_MS = 60_000
/** The calls a minute of one credential. */
const CALLS_PER_MINUTE = 3_000
const SIGN_INS = 10
/** That failed or run, per operation and address. */
const ATTEMPTS = 10
/** Over all accounts: trying one password on each account must not exhaust the CPU either. */
const SIGN_INS_PER_ADDRESS = 100

/** Calls without a valid credential, per address. */
const ADDRESS_RATE = toBucketRate(100, 5)

export interface ControlRateOptions {
  readonly callsPerMinute?: number | undefined
  readonly addressRate?: BucketRate | undefined
}

/** The control plane's own rate limits, per process and most of them per minute. Methods that count throw `control_rate_limit_exceeded`. */
export interface ControlRates {
  /** Credentials whose calls are not counted by address. */
  readonly proven: ProvenCredentials
  /** Counts a call of an address before its credential is looked up, and one that needs no credential. */
  countUnknown(address: string): void
  /** Takes that back, because its credential is valid. */
  refund(address: string): void
  /** Counts a call by a management key or a session. */
  countCall(credentialId: string): void
  /** Counts a password given for an account. */
  countSignIn(email: string, address: string): void
  /**
   * Counts a guess at another secret. Returns what takes the count back: call it once the secret was right, so that many
   * people of one address are not refused for being many.
   */
  countAttempt(operation: GuessableOperation, address: string): () => void
}

/** What asks for a secret that is not the caller's credential. Each has attempts of its own. */
export type GuessableOperation =
  | 'set_up'
  | 'look_up_invitation'
  | 'accept_invitation'
  | 'change_password'
  | 'reset_password'
  | 'sign_in_by_oidc'

export function openControlRates(
  clock: Clock,
  { callsPerMinute = CALLS_PER_MINUTE, addressRate = ADDRESS_RATE }: ControlRateOptions = {},
): ControlRates {
  const window = (limit: number, maxKeys: number): SlidingWindow =>
    new SlidingWindow({ limit, windowMs: MINUTE_MS, maxKeys, clock })
  const calls = window(callsPerMinute, 10_000)
  const signIns = window(SIGN_INS, 50_000)
  const addresses = window(SIGN_INS_PER_ADDRESS, 50_000)
  const attempts = window(ATTEMPTS, 50_000)
  const unknown = new TokenBuckets(addressRate)
  return {
    proven: new ProvenCredentials(),
    countUnknown(address) {
      const waitMs = unknown.take(toAddressGroup(address), clock.now())
      if (waitMs > 0) throw tooMany('This address makes too many calls without a valid credential.', waitMs)
    },
    refund: address => unknown.refund(toAddressGroup(address)),
    countCall: id => count(calls, id, 'This credential makes too many calls per minute.'),
    countSignIn(email, address) {
      const group = toAddressGroup(address)
      count(signIns, `${group} ${email}`, TOO_MANY_ATTEMPTS)
      count(addresses, group, TOO_MANY_ATTEMPTS)
    },
    countAttempt(operation, address) {
      const key = `${operation} ${toAddressGroup(address)}`
      const takenAt = clock.now()
      count(attempts, key, TOO_MANY_ATTEMPTS)
      return () => attempts.refund(key, takenAt)
    },
  }
}

const TOO_MANY_ATTEMPTS = 'Too many attempts from this address.'

function count(window: SlidingWindow, key: string, message: string): void {
  const waitMs = window.take(key)
  if (waitMs > 0) throw tooMany(message, waitMs)
}

function tooMany(message: string, waitMs: number): Fault {
  const seconds = Math.ceil(waitMs / 1000)
  return new Fault('control_rate_limit_exceeded', `${message} Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  })
}
