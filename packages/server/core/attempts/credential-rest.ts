import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { isOfCredential } from './retry.ts'

/** How long other credentials are called before one that its provider limits or refuses. */
export interface Rest {
  readonly ms: number
  /** The request may have caused the refusal, and others get through. */
  readonly isDoubtful: boolean
}

/** A refused key or an account without credit stays so until its owner repairs it. */
const REFUSED_REST_MS = 60_000
/** A limit that names no time: usually of requests or tokens a minute, which ends bit by bit. */
const LIMITED_REST_MS = 3_000

/**
 * Returns the rest after a failed call; undefined: none. `isAlone`: the target has no other credential, which would take over. It
 * rests only where its provider names a time, as its calls would all go to another model. A 403 may be for what a request says (a firewall before the provider),
 * and a 402 for what it could cost (an output cap beyond the credit that is left).
 */
export function findRest(
  { kind, status, retryAfterMs, detail }: UpstreamError,
  isAlone: boolean,
): Rest | undefined {
  if (isOfCredential(kind))
    return isAlone ? undefined : { ms: REFUSED_REST_MS, isDoubtful: status === 402 || status === 403 }
  if (kind !== 'rate_limited' && kind !== 'overloaded') return undefined
  if (retryAfterMs !== undefined) return { ms: retryAfterMs, isDoubtful: false }
  if (isAlone) return undefined
  // An overload counts for the circuit. A request that alone exceeds the limit says nothing about others.
  if (kind === 'overloaded' || status !== 429 || /too large/i.test(detail)) return undefined
  return { ms: LIMITED_REST_MS, isDoubtful: false }
}
