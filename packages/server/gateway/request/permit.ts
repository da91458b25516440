import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AdmissionScope } from '../../core/admission/admission-scope.ts'
import { acquire, release } from '../../core/admission/fair-share.ts'
import type { RefusalCounter } from '../../core/admission/refusal-counter.ts'
import { Fault } from '../../core/fault.ts'
import { isSent } from '../../http/answer/is-sent.ts'
import type { BodyMemory } from '../../http/body/body-memory.ts'
import type { UnreadAnswer, UnreadAnswers } from '../../http/fairness/unread-answers.ts'
import type { Ticker, TickerEntry } from './ticker.ts'

/** A body of this size is part of its request: it takes nothing from the bytes of bodies. */
const FREE_BODY_BYTES = 16 * 1024
/** Answers up to this size are bounded by the number of open requests. */
const FREE_ANSWER_BYTES = 64 * 1024
/** Open requests end and bodies are answered at any moment, so a short wait is enough. */
const RETRY_SECONDS = 1

/** The front door; see edge/front-door.ts. */
export interface PermitIssuer {
  readonly ticker: Ticker
  readonly refusals: RefusalCounter
  readonly unread: UnreadAnswers
  openNamed(credential: AdmissionScope, endUserId: string, now: number): AdmissionScope
}

/** What a permit needs of its request. */
interface PermitRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly startedAt: number
  fail(error: unknown, where: string): void
}

/**
 * One request's permit to be open, and the bytes that its body and providers' answers take. Those of answers are released when the
 * request ends, the others once the caller has its whole answer too: an answer that is not read takes memory.
 */
export class Permit implements BodyMemory, TickerEntry, UnreadAnswer {
  tickerSlot = -1
  /** The unread bytes of the request's answer, if they are counted. */
  unreadBytes = 0
  /** Bytes of providers' answers that the request has in memory. */
  #received = 0
  readonly #request: PermitRequest
  readonly #issuer: PermitIssuer
  readonly #credential: AdmissionScope
  /** The credential, or the end user that it named. */
  #scope: AdmissionScope
  #bytes = 0
  #isOpen = true
  #isReceiving = true

  private constructor(request: PermitRequest, credential: AdmissionScope, issuer: PermitIssuer) {
    this.#request = request
    this.#issuer = issuer
    this.#credential = credential
    this.#scope = credential
  }

  /** Throws 429 `concurrency_limit_exceeded` if the credential, its organization or the process has no open request left to give. */
  static open(request: PermitRequest, credential: AdmissionScope, issuer: PermitIssuer): Permit {
    if (acquire(credential.requests, 1)) return new Permit(request, credential, issuer)
    issuer.refusals.count('open_requests', credential.logName, request.startedAt)
    throw tooManyOpen('Too many requests of this credential are open at once.')
  }

  /** Counts the request as one of an end user that its key named. Throws 429 `concurrency_limit_exceeded`. */
  name(endUserId: string): void {
    const { startedAt } = this.#request
    const named = this.#issuer.openNamed(this.#credential, endUserId, startedAt)
    if (named === this.#scope) return
    if (!acquire(named.requests, 1)) {
      this.#issuer.refusals.count('open_requests', this.#credential.logName, startedAt)
      throw tooManyOpen('Too many requests of this end user are open at once.')
    }
    release(this.#scope.requests, 1)
    this.#scope = named
  }

  /** Acquires more bytes for the request's body. Returns the fault to answer if there is no room for them. */
  acquire(bytes: number): Fault | undefined {
    if (this.tryAcquire(bytes)) return undefined
    this.#issuer.refusals.count('body_bytes', this.#credential.logName, this.#request.startedAt)
    return tooManyOpen('The bodies that this credential sends at once are too large together.')
  }

  /** Acquires more bytes as `acquire` does, for a request that can do without them. Returns false if there is no room for them. */
  tryAcquire(bytes: number): boolean {
    const total = this.#bytes + bytes
    const more = toCounted(total) - toCounted(this.#bytes)
    if (!this.#isOpen || (more > 0 && !acquire(this.#credential.bytes, more))) return false
    this.#bytes = total
    return true
  }

  /** Releases bytes of a body that are no longer in memory. */
  release(bytes: number): void {
    this.releaseAbove(this.#bytes - bytes)
  }

  /** Releases what the body held, except `kept` bytes: the others are no longer in memory. */
  releaseAbove(kept: number): void {
    if (!this.#isOpen || kept >= this.#bytes) return
    release(this.#credential.bytes, toCounted(this.#bytes) - toCounted(kept))
    this.#bytes = kept
  }

  /**
   * Counts more bytes of a provider's answer until they are dropped or the request has ended. Returns false if there is no room for
   * them, or the request has ended.
   */
  receive(bytes: number): boolean {
    if (!this.#isReceiving) return false
    const total = this.#received + bytes
    const more = toCountedAnswer(total) - toCountedAnswer(this.#received)
    if (more > 0 && !this.#issuer.unread.makeRoom(this.#scope, more)) return false
    this.#received = total
    return true
  }

  /** Releases bytes of a provider's answer that are no longer in memory. */
  dropReceived(bytes: number): void {
    const left = Math.max(0, this.#received - bytes)
    const less = toCountedAnswer(this.#received) - toCountedAnswer(left)
    if (less > 0) release(this.#scope.answers, less)
    this.#received = left
  }

  #endReceiving(): void {
    this.#isReceiving = false
    this.dropReceived(this.#received)
  }

  /** Counts an answer that is whole in memory until the request has ended, though it is sent in pieces. */
  holdAnswer(bytes: number): void {
    if (this.#isOpen) this.#setUnread(bytes)
  }

  /** Called when the request has ended. The permit is released once the caller has the answer. */
  releaseOnceRead(): void {
    if (!this.#isOpen || this.tickerSlot !== -1) return
    this.#endReceiving()
    if (this.#isAnswered()) return this.#close()
    this.#issuer.ticker.add(this)
    this.#setUnread(this.#request.res.writableLength)
  }

  #setUnread(bytes: number): void {
    if (this.unreadBytes > 0) this.#issuer.unread.remove(this.#scope, this)
    this.unreadBytes = toCountedAnswer(bytes)
    if (this.unreadBytes > 0 && !this.#issuer.unread.add(this.#scope, this)) this.drop()
  }

  /** Disconnects the caller, whose answer waits to be read. */
  drop(): void {
    // Resets it: the kernel would go on offering what it has to the caller.
    this.#request.req.socket.resetAndDestroy()
    this.#issuer.ticker.remove(this)
    this.#close()
  }

  tick(): void {
    if (!this.#isAnswered()) return
    this.#issuer.ticker.remove(this)
    this.#close()
  }

  fail(error: unknown, where: string): void {
    this.#request.fail(error, where)
  }

  /** Events of the response do not fire in every case, such as for pipelined requests whose connection closed. */
  #isAnswered(): boolean {
    const { req, res } = this.#request
    return isSent(res) || res.destroyed || req.socket.destroyed
  }

  #close(): void {
    this.#isOpen = false
    this.#endReceiving()
    if (this.unreadBytes > 0) this.#issuer.unread.remove(this.#scope, this)
    release(this.#scope.requests, 1)
    release(this.#credential.bytes, toCounted(this.#bytes))
  }
}

function toCounted(bytes: number): number {
  return bytes > FREE_BODY_BYTES ? bytes : 0
}

function toCountedAnswer(bytes: number): number {
  return bytes > FREE_ANSWER_BYTES ? bytes : 0
}

function tooManyOpen(message: string): Fault {
  return new Fault('concurrency_limit_exceeded', message, { retryAfterSeconds: RETRY_SECONDS })
}
