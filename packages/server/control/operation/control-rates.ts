import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import { SlidingWindow } from '../../core/sliding-window.ts'
import { toAddressGroup } from '../../http/client-address.ts'

const MINUTE_MS = 60_000
/** Per credential. */
const CALLS_PER_MINUTE = 3_000
const SIGN_INS = 10
/** Over all accounts: trying one password on each account must not exhaust the CPU either. */
const SIGN_INS_PER_ADDRESS = 100

/** The control plane's own rate limits, per minute and per process. Each method throws `control_rate_limit_exceeded`. */
export interface ControlRates {
  /** Counts a call by a management key or a session. */
  countCall(credentialId: string): void
  /** Counts a password given for an account. */
  countSignIn(email: string, address: string): void
  /** Counts another guessable secret: a set-up token, an invitation or a reset link. */
  countAttempt(address: string): void
}

export function openControlRates(clock: Clock, callsPerMinute: number = CALLS_PER_MINUTE): ControlRates {
  const window = (limit: number, maxKeys: number): SlidingWindow =>
    new SlidingWindow({ limit, windowMs: MINUTE_MS, maxKeys, clock })
  const calls = window(callsPerMinute, 10_000)
  const signIns = window(SIGN_INS, 50_000)
  const addresses = window(SIGN_INS_PER_ADDRESS, 50_000)
  const attempts = window(SIGN_INS, 50_000)
  return {
    countCall: id => count(calls, id, 'This credential makes too many calls per minute.'),
    countSignIn(email, address) {
      const group = toAddressGroup(address)
      count(signIns, `${group} ${email}`, TOO_MANY_ATTEMPTS)
      count(addresses, group, TOO_MANY_ATTEMPTS)
    },
    countAttempt: address => count(attempts, toAddressGroup(address), TOO_MANY_ATTEMPTS),
  }
}

const TOO_MANY_ATTEMPTS = 'Too many attempts from this address.'

function count(window: SlidingWindow, key: string, message: string): void {
  const waitMs = window.take(key)
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw new Fault('control_rate_limit_exceeded', `${message} Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  })
}
