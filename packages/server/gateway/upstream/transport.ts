import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { LookupOwner } from '../../http/lookup-slots.ts'

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The events of a call, in this order: onStart, onData any number of times, then onEnd or onFail. None follows `abort`.
 */
export interface UpstreamHandler {
  /** `readHeaders` parses the headers on demand, since few answers need them. */
  onStart(status: number, readHeaders: () => UpstreamHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onFail(error: UpstreamError): void
  /** Called after an exception of another method, as the last call. Ends what waits for this call. Never throws. */
  onCrash(error: unknown): void
}

export interface UpstreamCall {
  /** True once the request was written to a connection, so the provider may have read it. */
  readonly isSent: boolean
  /** Closes the connection. Most providers then stop generating, and billing. */
  abort(): void
  pause(): void
  resume(): void
}

/** How requests reach a provider. The gateway has no other outgoing path to providers. */
export interface Transport {
  /** `owner`: for whom the call is made, and so whose share of the name lookups a new connection uses. */
  call(request: UpstreamRequest, handler: UpstreamHandler, owner?: LookupOwner): UpstreamCall
  close(): Promise<void>
}
