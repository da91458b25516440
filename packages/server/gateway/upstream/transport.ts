import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What happens on one call, in this order: start, data…, then end or fail. Nothing after `abort`. */
export interface UpstreamHandler {
  /** `readHeaders`: few answers need theirs. */
  onStart(status: number, readHeaders: () => UpstreamHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onFail(error: UpstreamError): void
  /** One of the others threw, and nothing follows: ends what waits for the call. Never throws. */
  onCrash(error: unknown): void
}

export interface UpstreamCall {
  /** The provider may have read the request: a connection was there, and the request was written to it. */
  readonly isSent: boolean
  /** Closes the connection: most providers stop working, and billing, then. */
  abort(): void
  pause(): void
  resume(): void
}

/** How bytes get to a provider and back. The gateway knows no other way out. */
export interface Transport {
  call(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall
  close(): Promise<void>
}
