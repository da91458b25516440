import { Fault } from '../../core/fault.ts'
import type { StoredClaim } from '../../storage/idempotency/idempotent-answers.ts'
import { canceledFault, type IdentifiedContext } from '../request/request-context.ts'
import { type AnswerReceiver, FirstAnswer } from './first-answer.ts'
import type { StoredAnswer } from './stored-answer.ts'

/** What a group needs of the process; see idempotency.ts. */
export interface IdempotencyGroupOwner {
  /** Claims a key, or returns what is stored for it. Rejects if the database does not answer in time. */
  claim(scope: IdempotencyScope, bodyHash: Buffer): Promise<{ readonly claimId: string } | StoredClaim>
  /** Reads a stored answer; undefined if it is gone. */
  read(group: Pick<IdempotencyGroup, 'key' | 'scope'>, found: StoredClaim): Promise<StoredAnswer | undefined>
  /** `lost`: another process took the claim over. `free`: there was no room. Never rejects. */
  keep(
    group: IdempotencyGroup,
    claimId: string,
    bodyHash: Buffer,
    answer: StoredAnswer,
  ): Promise<'kept' | 'lost' | 'free'>
  release(claimId: string): void
  /** Calls `claim` once the process that has the claim is done or gone. */
  watch(group: IdempotencyGroup): void
  forget(group: IdempotencyGroup): void
}

export interface IdempotencyScope {
  readonly hash: Buffer
  readonly orgId: string
  readonly environmentId: string
}

interface Waiter {
  readonly ctx: IdentifiedContext
  readonly bodyHash: Buffer
  readonly resolve: (answer: StoredAnswer | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * The requests of this process that have one key, until there is an answer for it. One of them makes the answer, unless
 * another process does; the others wait.
 */
export class IdempotencyGroup implements AnswerReceiver {
  /** Identifies the key in this process. */
  readonly key: string
  readonly scope: IdempotencyScope
  readonly #owner: IdempotencyGroupOwner
  /** The waiters in the order of their arrival. */
  readonly #waiting = new Set<Waiter>()
  /** The hash of the body whose answer is being made. undefined: not known yet. */
  #bodyHash: Buffer | undefined
  /** undefined: this process does not make the answer. */
  #claimId: string | undefined

  constructor(key: string, scope: IdempotencyScope, owner: IdempotencyGroupOwner) {
    this.key = key
    this.scope = scope
    this.#owner = owner
  }

  /**
   * Waits for the answer. Resolves to undefined if the request has to make it: its context then has the recorder. Rejects
   * with `idempotency_conflict` for another body, and when the request is stopped.
   */
  join(ctx: IdentifiedContext, bodyHash: Buffer): Promise<StoredAnswer | undefined> {
    if (this.#bodyHash?.equals(bodyHash) === false) return Promise.reject(conflictFault())
    return new Promise((resolve, reject) => {
      const waiter = { ctx, bodyHash, resolve, reject }
      this.#waiting.add(waiter)
      ctx.watch(undefined, fault => {
        this.#waiting.delete(waiter)
        ctx.unwatch()
        reject(fault)
      })
    })
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** Finds out who makes the answer, or has made it. Never rejects. */
  async claim(): Promise<void> {
    try {
      while (!(await this.#tryClaim()));
    } catch (error) {
      this.fail(error)
    }
  }

  /** Returns true once it is decided how the group goes on. */
  async #tryClaim(): Promise<boolean> {
    this.#bodyHash = undefined
    const [first] = this.#waiting
    if (first === undefined) return this.#end()
    const found = await this.#owner.claim(this.scope, first.bodyHash)
    if ('claimId' in found) {
      this.#claimId = found.claimId
      if (this.#handOver(first.bodyHash)) return true
      // All requests with this body have left. One with another body may have arrived.
      this.#release()
      return false
    }
    this.#adopt(found.bodyHash)
    if (!this.isAwaited) return this.#end()
    if (found.isKept) return await this.#replay(found)
    this.#owner.watch(this)
    return true
  }

  /** Returns false if the answer is gone, or if the request on whose behalf it would be read has no room for it. */
  async #replay(found: StoredClaim): Promise<boolean> {
    const [first] = this.#waiting
    const fault = first?.ctx.permit?.acquire(found.bytes)
    if (first !== undefined && fault !== undefined) {
      this.#settle(first)
      first.reject(fault)
      return false
    }
    const answer = await this.#owner.read(this, found)
    if (answer === undefined) return false
    this.#resolveAll(answer)
    return this.#end()
  }

  /** Lets the first request that still wants the answer make it. Returns false if there is none. */
  #handOver(bodyHash: Buffer): boolean {
    for (const waiter of this.#waiting) {
      if (!waiter.bodyHash.equals(bodyHash)) continue
      this.#settle(waiter)
      if (waiter.ctx.isGone) {
        waiter.reject(canceledFault())
        continue
      }
      waiter.ctx.recorder = new FirstAnswer(this, waiter.ctx.permit)
      waiter.resolve(undefined)
      this.#adopt(bodyHash)
      return true
    }
    return false
  }

  async keep(answer: StoredAnswer): Promise<void> {
    const [claimId, bodyHash] = [this.#claimId as string, this.#bodyHash as Buffer]
    const result = await this.#owner.keep(this, claimId, bodyHash, answer)
    if (result === 'lost') {
      this.#claimId = undefined
      void this.claim()
      return
    }
    if (result === 'free') this.#release()
    this.#claimId = undefined
    this.#resolveAll(answer)
    this.#end()
  }

  next(): void {
    if (this.#handOver(this.#bodyHash as Buffer)) return
    this.#release()
    this.#end()
  }

  /** Ends all that wait with `config_unavailable`. */
  fail(cause: unknown): void {
    const message = 'The Idempotency-Key cannot be checked right now. Nothing was run; try again shortly.'
    const fault =
      cause instanceof Fault
        ? cause
        : new Fault('config_unavailable', message, { cause, retryAfterSeconds: 2 })
    for (const waiter of this.#waiting) {
      this.#settle(waiter)
      waiter.reject(fault)
    }
    this.#end()
  }

  /** Refuses every request with another body. */
  #adopt(bodyHash: Buffer): void {
    this.#bodyHash = bodyHash
    for (const waiter of this.#waiting) {
      if (waiter.bodyHash.equals(bodyHash)) continue
      this.#settle(waiter)
      waiter.reject(conflictFault())
    }
  }

  #resolveAll(answer: StoredAnswer): void {
    for (const waiter of this.#waiting) {
      this.#settle(waiter)
      waiter.resolve(answer)
    }
  }

  #settle(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    waiter.ctx.unwatch()
  }

  #release(): void {
    if (this.#claimId !== undefined) this.#owner.release(this.#claimId)
    this.#claimId = undefined
  }

  #end(): true {
    this.#owner.forget(this)
    return true
  }
}

export function conflictFault(): Fault {
  return new Fault('idempotency_conflict', 'The Idempotency-Key was used before with a different body.', {
    param: 'Idempotency-Key',
  })
}
