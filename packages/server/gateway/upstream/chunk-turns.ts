import { ConnectionShares, type Share, type ShareOwner } from '../../core/connection-shares.ts'

/** A call with a chunk that waits to be processed. */
export interface WaitingCall {
  readonly owner: ShareOwner
  readonly origin: string
  /** Processes the chunk. */
  processChunk(): void
}

/** The time for long chunks in one tick of the event loop, in milliseconds. The last one may exceed it. */
const TICK_MS = 4

/**
 * Bounds how long one tick of the event loop processes chunks of providers. A provider that sends as fast as it is read, on
 * many connections at once, would otherwise delay everybody else by the time of all its chunks. Calls whose chunks have to
 * wait get their turns round robin: organizations, then environments, credentials, end users and origins.
 */
export class ChunkTurns {
  #spentMs = 0
  #isScheduled = false
  readonly #waiting = new ConnectionShares<WaitingCall>(Number.MAX_SAFE_INTEGER)
  readonly #shares = new Map<WaitingCall, Share<WaitingCall>>()

  /** True if this tick has no time left. The next chunk must wait. */
  get isSpent(): boolean {
    return this.#spentMs >= TICK_MS
  }

  /** Counts the time that a chunk took. */
  spend(ms: number): void {
    this.#spentMs += ms
    this.#schedule()
  }

  /** Calls `processChunk` in a later tick. */
  wait(call: WaitingCall): void {
    const share = this.#waiting.find(call.owner, call.origin)
    this.#shares.set(call, share)
    this.#waiting.wait(share, call)
    this.#schedule()
  }

  /** Removes a call whose chunk is no longer wanted, or was processed. */
  withdraw(call: WaitingCall): void {
    const share = this.#shares.get(call)
    if (share === undefined) return
    this.#shares.delete(call)
    this.#waiting.withdraw(share, call)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(startTickOf, this)
  }

  /** Called once in each tick that follows a wait or a chunk. */
  startTick(): void {
    this.#isScheduled = false
    this.#spentMs = 0
    try {
      while (!this.isSpent && this.#processNext());
    } finally {
      // Also after an exception of one call, which must not keep the others waiting.
      if (this.#shares.size > 0) this.#schedule()
    }
  }

  /** Returns false if no call waits. */
  #processNext(): boolean {
    const call = this.#waiting.next()
    if (call === undefined) return false
    const share = this.#shares.get(call) as Share<WaitingCall>
    this.#shares.delete(call)
    this.#waiting.release(share)
    const startedAt = performance.now()
    call.processChunk()
    this.#spentMs += performance.now() - startedAt
    return true
  }
}

function startTickOf(turns: ChunkTurns): void {
  turns.startTick()
}
