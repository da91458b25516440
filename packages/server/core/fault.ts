import type { FaultType } from '@rideau/llm/formats/shared/errors/served-fault'
import { excerpt } from '@rideau/llm/request/bounded-excerpt'
import { FAULTS, type FaultCode } from './fault-table.ts'

/** What a fault contains besides its code and its message. */
export interface FaultDetails {
  /** The offending field as a path (`messages[2].content`), a parameter or a header. */
  readonly param?: string
  /** Whole seconds after which the same call may pass; sent as `Retry-After`, never 0. */
  readonly retryAfterSeconds?: number
  /** What the provider itself said, by toProviderMessage, for a caller who may read it. */
  readonly providerMessage?: string | undefined
  /** Further headers of the answer as [name, value, ...]: the state of the limit that refused the request. */
  readonly headers?: readonly string[]
  /** The reason, for the log only. Never part of a response. */
  readonly cause?: unknown
}

const NO_HEADERS: readonly string[] = []

/** In characters. Both may hold text of the caller; with every character escaped in JSON they stay below 8 KB together. */
const MAX_MESSAGE = 1_000
const MAX_PARAM = 256

/**
 * The only way to report a failure to a caller. `message` is public: it contains no host, no key and nothing of a
 * provider's body, whose own message stands in `providerMessage` alone. `message` and `param` are cut to 1,000 and 256 characters of well-formed Unicode.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  readonly param: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: readonly string[]
  readonly providerMessage: string | undefined

  constructor(code: FaultCode, message: string, details: FaultDetails = {}) {
    super(excerpt(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.param = details.param === undefined ? undefined : excerpt(details.param, MAX_PARAM)
    this.retryAfterSeconds =
      details.retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(details.retryAfterSeconds))
    this.headers = details.headers ?? NO_HEADERS
    this.providerMessage = details.providerMessage
  }

  get status(): number {
    return FAULTS[this.code].status
  }

  get type(): FaultType {
    return FAULTS[this.code].type
  }
}

/** Returns a thrown value as a fault. Anything else becomes `internal_error`, with the value as its private cause. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  return new Fault('internal_error', 'Something went wrong on our side. Quote the request id to support.', {
    cause: thrown,
  })
}
