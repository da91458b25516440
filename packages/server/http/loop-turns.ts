import { ConnectionShares, type Share, type ShareOwner } from '../core/connection-shares.ts'

/** Work that may be long, and so waits for a turn in the event loop. */
export interface TurnTaker {
  readonly owner: ShareOwner
  /** Of what the work comes from; '': a caller's request. */
  readonly origin: string
  /**
   * Does up to a slice of the work, and waits again if there is more. Returns true if no other long work may follow in this
   * tick of the event loop. Should not throw: the exception goes to the process.
   */
  takeTurn(): boolean
}

/** The time for long work in one tick of the event loop, in milliseconds. The last piece of it may exceed it. */
export const SLICE_MS = 1
/** While several credentials send requests, long work leaves the event loop to others for so many times as long as it took. */
const REST = 2
/** A shorter rest is saved up. */
const MIN_REST_MS = 1
/** A process that was stopped for a while, or work that could not wait, must not hold up all long work afterwards. */
const MOST_REST_MS = 50
/** A credential that sent a request in this time shares the event loop. */
const RECENT_MS = 250

/** The owner of work that belongs to no known caller. */
export const UNKNOWN_OWNER: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }

/**
 * Divides the event loop between long work (slices of long bodies, long chunks of providers) and everything else. A request
 * takes several ticks, each of which the long work of others would delay. So long work gets 1 ms of a tick and then rests for
 * twice the time that it took, unless only one credential sends requests. Those who have long work get turns round robin:
 * organizations, then environments, credentials, end users and origins (docs/decisions/0046-turns-of-long-work.md).
 */
export class LoopTurns {
  readonly #waiting = new ConnectionShares<TurnTaker>(Number.MAX_SAFE_INTEGER)
  readonly #shares = new Map<TurnTaker, Share<TurnTaker>>()
  #isScheduled = false
  #sliceStart = 0
  /** What was done in this tick without a turn. */
  #spentMs = 0
  #restUntil = 0
  #lastCaller = ''
  #lastAt = Number.NEGATIVE_INFINITY
  /** When another credential than the last one sent its latest request. */
  #otherAt = Number.NEGATIVE_INFINITY

  /** Notes a request. `now`: by performance.now. */
  noteCaller(credential: string, now: number): void {
    if (credential !== this.#lastCaller) {
      this.#otherAt = this.#lastAt
      this.#lastCaller = credential
    }
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

  /** Counts work that was done without a turn, of so many milliseconds. */
  spend(ms: number): void {
    this.#spentMs += ms
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(endTickOf, this)
  }

  wait(taker: TurnTaker): void {
    const share = this.#waiting.find(taker.owner, taker.origin)
    this.#shares.set(taker, share)
    this.#waiting.wait(share, taker)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const restMs = this.#restUntil === 0 ? 0 : this.#restUntil - performance.now()
    if (restMs >= MIN_REST_MS) setTimeout(runSliceOf, restMs, this)
    else setImmediate(runSliceOf, this)
  }

  /** Removes work that is no longer wanted. Does nothing if it does not wait. */
  withdraw(taker: TurnTaker): void {
    const share = this.#shares.get(taker)
    if (share === undefined) return
    this.#shares.delete(taker)
    this.#waiting.withdraw(share, taker)
  }

  /** Gives turns for the time of a slice. */
  runSlice(): void {
    this.#sliceStart = performance.now()
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
    const isShared = now - this.#otherAt < RECENT_MS
    const restUntil = Math.max(this.#restUntil, now) + tookMs * REST
    this.#restUntil = isShared ? Math.min(restUntil, now + MOST_REST_MS) : 0
    if (this.#shares.size === 0) return
    this.#isScheduled = true
    const restMs = this.#restUntil - now
    if (restMs >= MIN_REST_MS) setTimeout(runSliceOf, restMs, this)
    else this.runSlice()
  }

  #next(): boolean {
    const taker = this.#waiting.next()
    if (taker === undefined) return false
    const share = this.#shares.get(taker) as Share<TurnTaker>
    this.#shares.delete(taker)
    this.#waiting.release(share)
    return taker.takeTurn()
  }
}

function runSliceOf(turns: LoopTurns): void {
  turns.runSlice()
}

function endTickOf(turns: LoopTurns): void {
  turns.endTick()
}

/** The event loop of this process. */
export const loopTurns = new LoopTurns()
