import type { Usage } from '@rideau/llm/usage/usage'
import type { KeyKind } from '../tenancy/tenancy.ts'
import type { AttemptRecord, RequestRecord } from './request-record.ts'

/** What is known of a request when its trace begins, right after its identification. */
export interface TracedRequest {
  readonly method: string
  /** The route's path, where `*` stands for a model or an id. */
  readonly route: string
  /** Unix milliseconds, and `performance.now()` at the same moment. All other times are by the latter. */
  readonly arrivedAt: number
  readonly startedAt: number
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
  readonly keyId: string | null
  readonly callerKind: KeyKind | 'client_token'
  /** W3C Trace Context of a caller that may choose its trace; undefined: the trace is a new one. Not validated yet. */
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

export interface TracedAttempt {
  /** The endpoint: `chat`, `embeddings`, ... */
  readonly operation: string
  /** The provider's name in OpenTelemetry's conventions. */
  readonly provider: string
  readonly model: string
  readonly credentialId: string
  readonly isStream: boolean
  /** The provider's own host; undefined: the credential has an address of its own, which is private to its owner. */
  readonly host: string | undefined
}

/**
 * The trace of one request. A request that is not sampled has one too, which records nothing and only makes `traceparent`.
 * No text of a body, key or token is passed to it, except for names of models.
 */
export interface RequestTrace {
  /** The limits are asked from now on, and have admitted the request. */
  noteReserving(): void
  noteReserved(): void
  /** Returns the `traceparent` for the provider; undefined: none is sent. */
  startAttempt(attempt: TracedAttempt): string | undefined
  /**
   * `usage`: what the provider may charge for an attempt that failed. `answeredModel`: whom the provider names in its answer, bounded. An
   * attempt that answers goes on until `noteRecord`.
   */
  endAttempt(attempt: AttemptRecord, usage: Usage | undefined, answeredModel: string | undefined): void
  /** The provider's answer is complete and its record is being written. `usage`: of the attempt that answered. */
  noteRecord(record: RequestRecord, usage: Usage): void
  /** The last byte was handed to the caller's connection. `status`: what was sent; undefined: nothing was. */
  end(requestId: string, status: number | undefined): void
}

/** Makes traces of requests and exports them. */
export interface Tracer {
  begin(request: TracedRequest): RequestTrace
}
