import {
  type CallerId,
  type ConnectionShare,
  ConnectionShares,
  type ShareOwner,
} from '../../core/admission/connection-shares.ts'
import { RestFactor } from './rest-factor.ts'

/** The long work of one request. */
export interface LongWork {
  /** The time that its turns took in the event loop, in milliseconds. What they started, such as reads of sockets, is left out. */
  ms: number
}

/** Whose work it is. A request context is one. */
export interface WorkOwner extends ShareOwner {
  /** undefined: it had no turn yet. */
  longWork?: LongWork | undefined
  /** When a provider was called first, by performance.now; undefined: not yet. */
  readonly firstAttemptAt?: number | undefined
}

/** Work that may be long, and so waits for a turn in the event loop. */
export interface TurnTaker {
  readonly owner: WorkOwner
  /** What the work comes from; '': a caller's request. */
  readonly origin: string
  /**
   * Does up to a slice of the work, and waits again if there is more. Returns true if no other long work may follow in this
   * tick of the event loop. Should not throw: the exception goes to the process.
   */
  takeTurn(): boolean
  /** True if the work is not wanted any more: it then waits for no debt. */
  readonly isUnwanted?: () => boolean
}

/** The time for long work in one tick of the event loop, in milliseconds. The last piece of it may exceed it. */
export const SLICE_MS = 1
/** A shorter rest is saved up. */
const MIN_REST_MS = 1
/** A process that was stopped for a while, or work that could not wait, must not hold up all long work afterwards. */
const MAX_REST_MS = 25
/** Work that waits for a debt is asked so often whether it is wanted. */
const DEBT_STEP_MS = 100
/** Whoever sent a request in this time shares the event loop. */
const RECENT_MS = 250

/** The owner of work that belongs to no known caller. */
export const UNKNOWN_OWNER: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
/** An id under which no caller sends requests. */
const UNKNOWN_CALLER: CallerId = { keyId: '' }

/**
 * Divides the event loop between long work (slices of long bodies, long chunks of providers) and everything else. A request
 * takes several ticks, each of which the long work of others would delay. Therefore long work gets 1 ms of a tick and then rests for
 * a multiple of the time that it took, unless only its own caller sends requests. Those who have long work get turns round robin:
 * organizations, then environments, credentials, end users and origins (docs/decisions/0046-turns-of-long-work.md).
 */
export class LoopTurns {
  readonly #waiting = new ConnectionShares<TurnTaker>(Number.MAX_SAFE_INTEGER)
  readonly #shares = new Map<TurnTaker, ConnectionShare<TurnTaker>>()
  /** Work that waits until its caller has paid a debt. */
  readonly #indebted = new Map<TurnTaker, NodeJS.Timeout>()
  #isScheduled = false
  #sliceStart = 0
  /** What was done in this tick without a turn. */
  #spentMs = 0
  #restUntil = 0
  readonly #rest = new RestFactor()
  /** When the rest that a timer ends is over; 0: no timer runs. */
  #dueAt = 0
  /** Who sent the latest request, and when. */
  #last: CallerId | undefined
  #lastAt = Number.NEGATIVE_INFINITY
  /** The sender of the latest request that is not from `#last`. */
  #other: CallerId | undefined
  #otherAt = Number.NEGATIVE_INFINITY
  /** Whose long work was done since the last rest was computed: one for each turn. */
  #workers: WorkOwner[] = []

  /** Notes a request. `now`: by performance.now. */
  noteRequest(sender: CallerId, now: number): void {
    if (this.#last === undefined || !isSameCaller(sender, this.#last)) {
      this.#other = this.#last
      this.#otherAt = this.#lastAt
    }
    this.#last = sender
    this.#lastAt = now
  }

  /** True if this tick has no time left for work without a turn. */
  get isSpent(): boolean {
    if (this.#shares.size > 0 || this.#spentMs >= SLICE_MS) return true
    return this.#restUntil > 0 && this.#restUntil - performance.now() >= MIN_REST_MS
  }

  /** True while the slice lasts in which turns are given. */
  get hasTime(): boolean {
    return performance.now() < this.#sliceStart + SLICE_MS
  }

  /** Counts `ms` milliseconds of work that was done without a turn. */
  spend(ms: number, owner: WorkOwner): void {
    this.#spentMs += ms
    if (owner.longWork !== undefined) owner.longWork.ms += ms
    this.#workers.push(owner)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(endTickOf, this)
  }

  /** Waits for a turn, which comes after `debtMs` milliseconds at the earliest. */
  waitFor(taker: TurnTaker, debtMs: number): void {
    if (debtMs < MIN_REST_MS || taker.isUnwanted?.() === true) {
      this.#indebted.delete(taker)
      return this.wait(taker)
    }
    const stepMs = Math.min(debtMs, DEBT_STEP_MS)
    this.#indebted.set(
      taker,
      setTimeout(() => this.waitFor(taker, debtMs - stepMs), stepMs),
    )
  }

  wait(taker: TurnTaker): void {
    const share = this.#waiting.openShare(taker.owner, taker.origin)
    this.#shares.set(taker, share)
    this.#waiting.wait(share, taker)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const restMs = this.#restUntil === 0 ? 0 : this.#restUntil - performance.now()
    if (restMs >= MIN_REST_MS) this.#runAfter(restMs)
    else setImmediate(runSliceOf, this)
  }

  /** Removes work that is no longer wanted. Does nothing if it does not wait. */
  withdraw(taker: TurnTaker): void {
    const timer = this.#indebted.get(taker)
    if (timer !== undefined) {
      clearTimeout(timer)
      this.#indebted.delete(taker)
    }
    const share = this.#shares.get(taker)
    if (share === undefined) return
    this.#shares.delete(taker)
    this.#waiting.withdraw(share, taker)
  }

  /** Gives turns for the time of a slice. */
  runSlice(): void {
    this.#sliceStart = performance.now()
    if (this.#dueAt > 0) this.#rest.noteTick(this.#dueAt, this.#sliceStart)
    this.#dueAt = 0
    const until = this.#sliceStart + SLICE_MS
    try {
      while (!this.#next() && this.#shares.size > 0 && performance.now() < until);
    } finally {
      // In the next tick: what the turns started, such as reads of sockets, counts as part of them.
      setImmediate(endTickOf, this)
    }
  }

  endTick(): void {
    const now = performance.now()
    const tookMs = this.#sliceStart === 0 ? this.#spentMs : now - this.#sliceStart
    this.#sliceStart = 0
    this.#spentMs = 0
    this.#isScheduled = false
    const workers = this.#workers
    this.#workers = []
    const isShared = this.#isWaitedFor(workers, now)
    const restUntil = Math.max(this.#restUntil, now) + tookMs * this.#rest.at(now)
    this.#restUntil = isShared ? Math.min(restUntil, now + MAX_REST_MS) : 0
    if (this.#shares.size === 0) return
    this.#isScheduled = true
    const restMs = this.#restUntil - now
    if (restMs >= MIN_REST_MS) this.#runAfter(restMs)
    else this.runSlice()
  }

  #runAfter(restMs: number): void {
    this.#dueAt = performance.now() + restMs
    setTimeout(runSliceOf, restMs, this)
  }

  /** True if a caller that sends requests had to wait for the long work of another caller. */
  #isWaitedFor(workers: readonly WorkOwner[], now: number): boolean {
    return waits(this.#last, now - this.#lastAt, workers) || waits(this.#other, now - this.#otherAt, workers)
  }

  #next(): boolean {
    const taker = this.#waiting.next()
    if (taker === undefined) return false
    this.#workers.push(taker.owner)
    const share = this.#shares.get(taker) as ConnectionShare<TurnTaker>
    this.#shares.delete(taker)
    this.#waiting.release(share)
    const { longWork } = taker.owner
    if (longWork === undefined) return taker.takeTurn()
    const startedAt = performance.now()
    try {
      return taker.takeTurn()
    } finally {
      longWork.ms += performance.now() - startedAt
    }
  }
}

function waits(sender: CallerId | undefined, silentMs: number, workers: readonly WorkOwner[]): boolean {
  if (sender === undefined || silentMs >= RECENT_MS) return false
  return workers.length === 0 || workers.some(({ caller = UNKNOWN_CALLER }) => !isSameCaller(sender, caller))
}

function isSameCaller(a: CallerId, b: CallerId): boolean {
  return a === b || (a.keyId === b.keyId && a.endUser?.id === b.endUser?.id)
}

function runSliceOf(turns: LoopTurns): void {
  turns.runSlice()
}

function endTickOf(turns: LoopTurns): void {
  turns.endTick()
}

/** The event loop of this process. */
export const loopTurns = new LoopTurns()
