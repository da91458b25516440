import { type FaultType } from '@rideau/llm/formats/shared/served-fault'
import { excerpt } from '@rideau/llm/request/bounded-excerpt'
import { FAULTS, type FaultCode } from './fault-table.ts'

/** What a caller may learn of a fault besides its code; everything else goes to the server's log only. */
export interface FaultDetails {
  /** The offending field as a path (`messages[2].content`), a parameter or a header. */
  readonly param?: string
  /** Whole seconds after which the same call may pass; sent as `Retry-After`, never 0. */
  readonly retryAfterSeconds?: number
  /** Private: why it happened. Never rendered. */
  readonly cause?: unknown
}

/** Both may hold what a caller sent. With every character escaped in JSON they stay below 8 KB together. */
const MAX_MESSAGE = 1_000
const MAX_PARAM = 256

/**
 * The one way to say no. `message` is public: it names no host, no key and nothing of a provider's body. It and `param`
 * are cut where they are longer than any of ours, and well-formed Unicode.
 * Source: spec.md "Errors", contract.md §2.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  readonly param: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: FaultCode, message: string, details: FaultDetails = {}) {
    super(excerpt(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.param = details.param === undefined ? undefined : excerpt(details.param, MAX_PARAM)
    this.retryAfterSeconds =
      details.retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(details.retryAfterSeconds))
  }

  get status(): number {
    return FAULTS[this.code].status
  }

  get type(): FaultType {
    return FAULTS[this.code].type
  }
}

/** Any thrown thing as a fault: what is not one is `internal_error`, its details kept private. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  return new Fault('internal_error', 'Something went wrong on our side. Quote the request id to support.', {
    cause: thrown,
  })
}
