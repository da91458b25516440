import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mount } from '@rideau/llm/formats/shared/mount'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Need } from '../../core/authorize.ts'
import { Fault } from '../../core/fault.ts'
import type { AttemptRecord } from '../../core/request-record.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy.ts'
import type { Reservation } from '../limits/reservations.ts'
import { emptyRecordFields, type RecordFields } from './record-fields.ts'
import type { Ticking } from './ticker.ts'

/** What a route is, besides its address. */
export interface RouteInfo {
  /** As the log names it: `chat`, `models`… */
  readonly endpoint: string
  readonly mount: Mount
  readonly need: Need
  /** Can reach a provider: entered in flight, and leaves a record. */
  readonly isMetered: boolean
}

/** Ends a request after an exception that its own promise did not meet; see fail-request.ts. Never throws. */
export type FailRequest = (ctx: RequestContext, error: unknown, where: string) => void

/** One request from its arrival to its last byte: what the steps hand to each other. */
export class RequestContext implements Ticking {
  /** The gateway's own id, which journal and ledger use; never a caller's. */
  readonly id: string
  /** What `X-Request-Id` says: a caller's own UUID, or `id`. */
  requestId: string
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly route: RouteInfo
  /** Unix milliseconds. */
  readonly arrivedAt: number
  /** `performance.now()` at arrival; later moments are differences to it. */
  readonly startedAt: number
  readonly attempts: AttemptRecord[] = []
  /** For the record. */
  readonly recordFields: RecordFields = emptyRecordFields()
  /** Set by the first step. */
  caller: Caller | undefined
  /** On whose behalf: a client token's own from the first step on; whom a secret key names once the body is read. */
  endUser: EndUser | undefined
  environment: Environment | undefined
  /** What it holds of its limits; undefined: it was not admitted yet. */
  reservation: Reservation | undefined
  /** What tries that nobody got an answer of are billed, together: providers may charge for them. */
  abandoned: Bill | undefined
  /** Some of that is of a provider that takes money. */
  isAbandonedReal = false
  /** When the first upstream call left, and when the first byte went to the caller (`performance.now()`). */
  calledAt: number | undefined
  firstByteAt: number | undefined
  /** The caller's connection is closed before the answer was complete. */
  isGone = false
  /** Its record is written. */
  isSettled = false
  /** Why the request must stop early; set once. */
  stopped: Fault | undefined
  /** It is answered or cut off, and what it held is given back. */
  isEnded = false
  tickerSlot = -1
  #onTick: ((now: number) => void) | undefined
  #onStop: ((fault: Fault) => void) | undefined
  readonly #fail: FailRequest

  /** How a fault is told once the stream's headers are out. Set by the routes that stream. */
  encodeStreamFault: ((fault: Fault) => string | Uint8Array) | undefined

  constructor(init: {
    id: string
    requestId: string
    req: IncomingMessage
    res: ServerResponse
    route: RouteInfo
    arrivedAt: number
    /** The same function for all requests of a server. */
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
   * The step that waits says what to do meanwhile: `onTick` watches deadlines and silence, `onStop` ends the wait.
   *
   * A method, not two fields to assign: V8 allocates a function literal that is assigned to a property in old space,
   * where it holds on to the whole request until the next full collection (measured: half of the CPU of a request).
   */
  watch(onTick: ((now: number) => void) | undefined, onStop: (fault: Fault) => void): void {
    this.#onTick = onTick
    this.#onStop = onStop
  }

  /** The wait is over. */
  unwatch(): void {
    this.#onTick = undefined
    this.#onStop = undefined
  }

  /** Milliseconds since the request arrived. */
  elapsedMs(): number {
    return performance.now() - this.startedAt
  }

  tick(now: number): void {
    this.#onTick?.(now)
  }

  /** Ends the request early: a cancel, or a caller that left. Idempotent. Never throws: who cancels is another request. */
  stop(fault: Fault): void {
    if (this.stopped !== undefined) return
    this.stopped = fault
    try {
      this.#onStop?.(fault)
    } catch (error) {
      this.fail(error, 'the end of a wait')
    }
  }

  /** Is given what a timer, a listener or a callback of this request threw: the request ends with `internal_error`. */
  fail(error: unknown, where: string): void {
    this.#fail(this, error, where)
  }

  /** Steps call this where they begin something: a stopped request begins nothing. */
  throwIfStopped(): void {
    if (this.stopped !== undefined) throw this.stopped
  }
}

export function canceledFault(): Fault {
  return new Fault('request_canceled', 'The request was canceled.')
}

/** A request whose credential was accepted: what every route is given. */
export type IdentifiedContext = RequestContext & {
  readonly caller: Caller
  readonly environment: Environment
}

/** Throws where the request was not identified: no route is served before. */
export function toIdentified(ctx: RequestContext): IdentifiedContext {
  if (!isIdentified(ctx)) throw new Error('a request is served after its identification only')
  return ctx
}

export function isIdentified(ctx: RequestContext): ctx is IdentifiedContext {
  return ctx.caller !== undefined && ctx.environment !== undefined
}
