import type { TableEntry } from './bounded-table.ts'
import { type CapacityShare, openShare } from './fair-share.ts'
import type { SharedBucket } from './shared-bucket.ts'
import { type BucketRate, returnToken, takeToken } from './token-bucket.ts'

export interface AdmissionScopeInit {
  readonly key: string
  /** Who this is in the log, which names no end users. */
  readonly logName: string
  readonly parent: AdmissionScope | undefined
  /** How many requests it may make; undefined: only its children and parents are limited. */
  readonly rate: BucketRate | undefined
  /** The scope's share of the open requests, of the bytes of bodies, and of the bytes of answers. */
  readonly requests: CapacityShare
  readonly bytes: CapacityShare
  readonly answers: CapacityShare
}

/** How many times what is free a scope may hold; see fair-share.ts. */
export interface ShareFactors {
  readonly requests: number
  readonly bytes: number
  readonly answers: number
}

export interface ChildInit extends Pick<AdmissionScopeInit, 'key' | 'logName' | 'rate'> {
  readonly factors: ShareFactors
}

/** A scope whose requests are counted together: a process, an organization, an environment, a key or an end user. */
export class AdmissionScope implements TableEntry, SharedBucket {
  readonly key: string
  readonly logName: string
  readonly parent: AdmissionScope | undefined
  readonly rate: BucketRate | undefined
  readonly requests: CapacityShare
  readonly bytes: CapacityShare
  readonly answers: CapacityShare
  fullAt = 0
  unreported = 0
  #children = 0

  constructor({ key, logName, parent, rate, requests, bytes, answers }: AdmissionScopeInit) {
    this.key = key
    this.logName = logName
    this.parent = parent
    this.rate = rate
    this.requests = requests
    this.bytes = bytes
    this.answers = answers
  }

  /** Returns a new child. It counts as one until it is forgotten. */
  openChild({ key, logName, rate, factors }: ChildInit): AdmissionScope {
    this.#children++
    const { requests, bytes, answers } = factors
    return new AdmissionScope({
      key,
      logName,
      parent: this,
      rate,
      requests: openShare(this.requests, requests),
      bytes: openShare(this.bytes, bytes),
      answers: openShare(this.answers, answers),
    })
  }

  isIdle(now: number): boolean {
    const isFull = this.rate === undefined || this.fullAt <= now
    const holdsNothing = this.requests.used === 0 && this.bytes.used === 0 && this.answers.used === 0
    return isFull && holdsNothing && this.#children === 0
  }

  onEvicted(): void {
    this.leaveParent()
  }

  /** Lets the parent become idle, since this scope is in no table any more, or was never added to one. */
  leaveParent(): void {
    if (this.parent !== undefined) this.parent.#children--
  }
}

/** Counts a request of a scope and of those above it. Returns 0, or without counting it the milliseconds to wait. */
export function takeRequest(scope: AdmissionScope, now: number): number {
  const { rate, parent } = scope
  const waitMs = rate === undefined ? 0 : takeToken(scope, rate, now)
  if (waitMs > 0 || parent === undefined) return waitMs
  const parentWaitMs = takeRequest(parent, now)
  // A request that is refused for all must not count against this one.
  if (parentWaitMs > 0 && rate !== undefined) returnToken(scope, rate)
  return parentWaitMs
}
