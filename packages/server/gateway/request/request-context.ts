import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Need } from '../../core/access/authorize.ts'
import { Fault } from '../../core/fault.ts'
import type { AttemptRecord } from '../../core/records/request-record.ts'
import type { RequestTrace } from '../../core/records/tracer.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy/tenancy.ts'
import type { LongWork } from '../../http/fairness/loop-turns.ts'
import type { LimitRefusal } from '../../ledger/ledger.ts'
import type { Reservation } from '../limits/reservations.ts'
import type { AnswerRecorder } from './answer-recorder.ts'
import type { Permit } from './permit.ts'
import { emptyRecordFields, type RecordFields } from './record-fields.ts'
import type { TickerEntry } from './ticker.ts'

/** A route without what serves it. */
export interface RouteInfo {
  /** One `*` stands for a model or an id. Matched with the raw path byte by byte. Empty: no route was found. */
  readonly path: string
  /** The endpoint's name in the log: `chat`, `models`, ... */
  readonly endpoint: string
  readonly mount: Mount
  readonly need: Need
  /** True if the route can call a provider. Its requests are registered as in flight and leave a record. */
  readonly isMetered: boolean
  /** False if its requests must be served to a caller with too many open requests. */
  readonly needsPermit: boolean
}

/** Ends a request after an exception outside its own promise chain; see fail-request.ts. Never throws. */
export type FailRequest = (ctx: RequestContext, error: unknown, where: string) => void

/**
 * What of a request is over. It only advances, and may skip a phase:
 *
 * - `running`: its answer is open. A cancel stops it, and so does its caller's disconnect.
 * - `decided`: it is certain whether it succeeds, and `stop` has no effect any more.
 * - `settled`: its record and its usage are final. Routes that leave no record skip this.
 * - `ended`: it was answered or cut off, and has released what it reserved.
 */
export type RequestPhase = 'running' | 'decided' | 'settled' | 'ended'

/** One request from its arrival to its last byte. Holds what its steps pass to each other. */
export class RequestContext implements TickerEntry {
  /** The gateway's own id, used by the journal and the ledger. Never chosen by a caller. */
  readonly id: string
  /** The value of `X-Request-Id`: a caller's own UUID, or `id`. */
  requestId: string
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly route: RouteInfo
  /** Unix milliseconds. */
  readonly arrivedAt: number
  /** `performance.now()` at arrival. Durations are differences to it. */
  readonly startedAt: number
  readonly attempts: AttemptRecord[] = []
  /** How many of those were passed over and not made, for example because their circuit is open. */
  skippedAttempts = 0
  /** Filled by the steps for the request's record. */
  readonly recordFields: RecordFields = emptyRecordFields()
  /** Set by identification. */
  caller: Caller | undefined
  /** The end user: a client token's own from identification on, one named by a secret key once the body is read. */
  endUser: EndUser | undefined
  environment: Environment | undefined
  /** When its credential expires, in Unix milliseconds; null: never. Set by identification. */
  credentialExpiresAt: number | null = null
  /** The request's permit to be open. undefined: it was not identified yet, or it needs none. */
  permit: Permit | undefined
  /** The request's reservation on limits. undefined: nothing was reserved yet. */
  reservation: Reservation | undefined
  /** The limit that refused the whole request. */
  refusal: LimitRefusal | undefined
  /** Records the answer for later requests with its idempotency key. undefined: it has no key, or is answered by a replay. */
  recorder: AnswerRecorder | undefined
  /** The request's spans. undefined: it was not identified yet, or traces are off. */
  trace: RequestTrace | undefined
  /** The bill of all abandoned attempts. Providers may charge for them. */
  abandoned: Bill | undefined
  /** True if a paid provider is part of that bill. */
  isAbandonedReal = false
  /** `performance.now()` of the first upstream call, and of the first byte to the caller. */
  firstAttemptAt: number | undefined
  firstByteAt: number | undefined
  /** True if the body was parsed in slices. Each step that follows may take tens of milliseconds, so it waits its turn in the event loop. */
  isLong = false
  /** What it took of the event loop in turns. undefined: no turn yet. */
  longWork: LongWork | undefined
  /**
   * True if only the provider can count its input, such as files of unknown length. It then goes on without its caller, since its
   * usage comes at the end of a stream, and an estimate is the whole context window.
   */
  needsUsage = false
  /** True if the caller's connection closed before the answer was complete. */
  isGone = false
  /** Why the request must stop early. Set once, and only while it is running. */
  stopped: Fault | undefined
  tickerSlot = -1
  #phase: RequestPhase = 'running'
  #onTick: ((now: number) => void) | undefined
  #onStop: ((fault: Fault) => void) | undefined
  readonly #fail: FailRequest

  /** Encodes a fault after a stream's headers were sent. Set by routes that stream. */
  encodeStreamFault: ((fault: Fault) => string | Uint8Array) | undefined

  constructor(init: {
    id: string
    requestId: string
    req: IncomingMessage
    res: ServerResponse
    route: RouteInfo
    arrivedAt: number
    /** One function for all requests of a server. */
    fail: FailRequest
  }) {
    this.id = init.id
    this.requestId = init.requestId
    this.req = init.req
    this.res = init.res
    this.route = init.route
    this.arrivedAt = init.arrivedAt
    this.startedAt = performance.now()
    this.#fail = init.fail
  }

  /**
   * Sets what happens while a step waits: `onTick` checks timeouts, `onStop` ends the wait.
   *
   * A method instead of two assignable fields: V8 allocates a function literal that is assigned to a property in old
   * space, where it keeps the whole request alive until the next full collection (measured: half of the CPU of a
   * request).
   */
  watch(onTick: ((now: number) => void) | undefined, onStop: (fault: Fault) => void): void {
    this.#onTick = onTick
    this.#onStop = onStop
  }

  get phase(): RequestPhase {
    return this.#phase
  }

  /** Ends the watch of a wait. */
  unwatch(): void {
    this.#onTick = undefined
    this.#onStop = undefined
  }

  /** Returns milliseconds since the request arrived. */
  elapsedMs(): number {
    return performance.now() - this.startedAt
  }

  tick(now: number): void {
    this.#onTick?.(now)
  }

  /**
   * Ends the request early, for a cancel or a caller that disconnected, while it is running. Idempotent. Never throws, since it is
   * called by another request.
   */
  stop(fault: Fault): void {
    if (this.stopped !== undefined || this.#phase !== 'running') return
    this.stopped = fault
    try {
      this.#onStop?.(fault)
    } catch (error) {
      this.fail(error, 'the end of a wait')
    }
  }

  /** Reports an exception of a timer, listener or callback of this request, which then ends with `internal_error`. */
  fail(error: unknown, where: string): void {
    this.#fail(this, error, where)
  }

  /** Throws if the request was stopped. Steps call it before they start something. */
  assertNotStopped(): void {
    if (this.stopped !== undefined) throw this.stopped
  }

  /**
   * Decides that the request succeeds. Called before its answer is stored and its record written, both of which take
   * time. Throws if it was stopped.
   */
  decideSuccess(): void {
    this.assertNotStopped()
    this.decide()
  }

  /** Advances to `decided`: neither a cancel nor the caller's disconnect changes the answer any more. */
  decide(): void {
    if (this.#phase === 'running') this.#phase = 'decided'
  }

  /** Advances to `settled`. Returns false if the request was settled before. */
  markSettled(): boolean {
    if (this.#phase === 'settled' || this.#phase === 'ended') return false
    this.#phase = 'settled'
    return true
  }

  /** Advances to `ended`. Returns false if the request had ended before. */
  markEnded(): boolean {
    if (this.#phase === 'ended') return false
    this.#phase = 'ended'
    return true
  }
}

export function canceledFault(): Fault {
  return new Fault('request_canceled', 'The request was canceled.')
}

/** A request whose credential was accepted. Every route receives one. */
export type IdentifiedContext = RequestContext & {
  readonly caller: Caller
  readonly environment: Environment
}

/** Throws if the request was not identified. No route may be served before that. */
export function toIdentified(ctx: RequestContext): IdentifiedContext {
  if (!isIdentified(ctx)) throw new Error('a request was served before its identification')
  return ctx
}

export function isIdentified(ctx: RequestContext): ctx is IdentifiedContext {
  return ctx.caller !== undefined && ctx.environment !== undefined
}
