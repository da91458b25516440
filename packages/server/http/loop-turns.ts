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
/** While others send requests, long work leaves the event loop to them for at least this multiple of the time that it took. */
const LEAST_REST = 2
/** The same while ticks are late: requests then wait for this process or for a processor. */
const MOST_REST = 8
/** A tick is late if it comes so long after the end of a rest. On an idle machine a timer is late by one millisecond. */
const LATE_MS = 2
/** What a late tick adds to the multiple, and what any other takes from it: it stays the same with one late tick in a hundred. */
const LATE_STEP = 1
const IN_TIME_STEP = 0.01
/** A shorter rest is saved up. */
const MIN_REST_MS = 1
/** A process that was stopped for a while, or work that could not wait, must not hold up all long work afterwards. */
const MOST_REST_MS = 25
/** Whoever sent a request in this time shares the event loop. */
const RECENT_MS = 250

/** Who sends requests: a key, or an end user with client tokens. */
export interface Sender {
  /** null: a member's own token. */
  readonly keyId: string | null
  readonly endUser: { readonly id: string } | null
}

/** The owner of work that belongs to no known caller. */
export const UNKNOWN_OWNER: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }

/**
 * Divides the event loop between long work (slices of long bodies, long chunks of providers) and everything else. A request
 * takes several ticks, each of which the long work of others would delay. So long work gets 1 ms of a tick and then rests for
 * a multiple of the time that it took, unless nobody sends requests but its owner. Those who have long work get turns round robin:
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
  /** The length of a rest, as a multiple of the work before it. */
  #rest = LEAST_REST
  /** When the rest that a timer ends is over; 0: no timer runs. */
  #dueAt = 0
  /** Who sent the latest request, and when. */
  #last: Sender | undefined
  #lastAt = Number.NEGATIVE_INFINITY
  /** The same of the latest request of somebody else. */
  #other: Sender | undefined
  #otherAt = Number.NEGATIVE_INFINITY
  /** Whose long work was done since the last rest was computed. */
  #worker: ShareOwner | undefined
  #hasSeveralWorkers = false

  /** Notes a request. `now`: by performance.now. */
  noteRequest(sender: Sender, now: number): void {
    if (this.#last === undefined || !isSameSender(sender, this.#last)) {
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

  /** Counts work that was done without a turn, of so many milliseconds. */
  spend(ms: number, owner: ShareOwner): void {
    this.#spentMs += ms
    this.#noteWorker(owner)
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
    if (restMs >= MIN_REST_MS) this.#runAfter(restMs)
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
    this.#adaptRest(this.#sliceStart)
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
    const isShared = this.#isWaitedFor(now)
    this.#worker = undefined
    this.#hasSeveralWorkers = false
    const restUntil = Math.max(this.#restUntil, now) + tookMs * this.#rest
    this.#restUntil = isShared ? Math.min(restUntil, now + MOST_REST_MS) : 0
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

  /** Makes rests longer after a late tick, and slowly shorter again. */
  #adaptRest(now: number): void {
    if (this.#dueAt === 0) return
    const isLate = now - this.#dueAt > LATE_MS
    this.#dueAt = 0
    this.#rest = isLate
      ? Math.min(MOST_REST, this.#rest + LATE_STEP)
      : Math.max(LEAST_REST, this.#rest - IN_TIME_STEP)
  }

  #noteWorker(owner: ShareOwner): void {
    if (this.#worker === undefined) this.#worker = owner
    else if (!isSameOwner(owner, this.#worker)) this.#hasSeveralWorkers = true
  }

  /** True if somebody who sends requests had to wait for the long work of somebody else. */
  #isWaitedFor(now: number): boolean {
    return this.#waits(this.#last, now - this.#lastAt) || this.#waits(this.#other, now - this.#otherAt)
  }

  #waits(sender: Sender | undefined, silentMs: number): boolean {
    if (sender === undefined || silentMs >= RECENT_MS) return false
    return this.#hasSeveralWorkers || this.#worker === undefined || !isWorkOf(sender, this.#worker)
  }

  #next(): boolean {
    const taker = this.#waiting.next()
    if (taker === undefined) return false
    this.#noteWorker(taker.owner)
    const share = this.#shares.get(taker) as Share<TurnTaker>
    this.#shares.delete(taker)
    this.#waiting.release(share)
    return taker.takeTurn()
  }
}

function isSameSender(a: Sender, b: Sender): boolean {
  return a === b || (a.keyId === b.keyId && a.endUser?.id === b.endUser?.id)
}

function isSameOwner(a: ShareOwner, b: ShareOwner): boolean {
  return a === b || (a.caller?.keyId === b.caller?.keyId && a.endUser?.id === b.endUser?.id)
}

/** A key's work may be for an end user that only the body of its request names. */
function isWorkOf({ keyId, endUser }: Sender, owner: ShareOwner): boolean {
  return owner.caller?.keyId === keyId && (endUser === null || endUser.id === owner.endUser?.id)
}

function runSliceOf(turns: LoopTurns): void {
  turns.runSlice()
}

function endTickOf(turns: LoopTurns): void {
  turns.endTick()
}

/** The event loop of this process. */
export const loopTurns = new LoopTurns()
