import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The events of a call, in this order: onStart, onData any number of times, then onEnd or onFail. None follows `abort`.
 */
export interface UpstreamHandler {
  /** The answer may take minutes, in which its request is not kept. Absent: false. */
  readonly isStream?: true
  /** True while it only keeps what comes, since its reader is not ready: reading it later takes time that is not measured now. */
  readonly isOpening?: boolean
  /** `readHeaders` parses the headers on demand, since few answers need them. */
  onStart(status: number, readHeaders: () => UpstreamHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onFail(error: UpstreamError): void
  /** Called after an exception of another method, as the last call. Ends what waits for this call. Never throws. */
  onCrash(error: unknown): void
}

export interface UpstreamCall {
  /**
   * When the request was written to a connection, so that the provider may have read it: milliseconds, as of
   * `performance.now()`. undefined: it was not.
   */
  readonly sentAt: number | undefined
  /** True while it has the request's body in memory, or what repeats it. A streamed call drops it once it is sent. */
  readonly hasBody: boolean
  /** True while no connection is free for the call, because its owner holds its share of them. */
  readonly isWaiting: boolean
  /** Closes the connection. Most providers then stop generating, and billing. */
  abort(): void
  /** Reports that nothing more of the answer is needed. If its end does not arrive soon, the connection is closed. */
  finish(): void
  pause(): void
  resume(): void
}

/** How requests reach a provider. The gateway has no other outgoing path to providers. */
export interface Transport {
  /** `owner`: for whom the call is made. Connections and name lookups are shared fairly among owners. */
  call(request: UpstreamRequest, handler: UpstreamHandler, owner: ShareOwner): UpstreamCall
  close(): Promise<void>
}
