import type { FinishReason } from '../../reply/chat-reply.ts'
import type { StreamEvent } from '../../stream/stream-event.ts'
import type { Bill } from '../../usage/bill.ts'
import type { ServedFault } from './served-fault.ts'

/** One event of a provider's stream: its meaning, and its own bytes where they can be passed on. */
export interface UpstreamEvent {
  readonly data: string
  readonly raw: Uint8Array
}

export interface StreamEnd {
  readonly finishReason: FinishReason
  /** The provider sent a finish reason itself. */
  readonly isFinishSent: boolean
  /** A limit's end was reached, and the stream was cut by us. */
  readonly isCut: boolean
  /** The provider sent usage and it was passed on. */
  readonly isUsageSent: boolean
  readonly bill: Bill
}

/** Encodes one stream in the caller's format. Pure: it returns text or bytes, and the relay writes them. */
export interface StreamEncoder {
  /** May this chunk of whole events go to the caller unread? */
  canPass(chunk: Buffer): boolean
  /** A chunk that may pass, as the caller gets it. Absent: as it came. */
  pass?(chunk: Buffer): Buffer
  /** Of a chunk that may pass. Absent: they are set apart by blank lines. */
  countEvents?(chunk: Buffer): number
  /** What the caller gets for one event; empty: nothing. */
  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array
  /** The last frames. */
  finish(end: StreamEnd): string | Uint8Array
  /** The frames of a failure in mid-stream, where they depend on what went before. */
  encodeFault?(fault: ServedFault, requestId: string, baseUrl: string): string | Uint8Array
}
