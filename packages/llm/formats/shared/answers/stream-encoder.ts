import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { ServedFault } from '../errors/served-fault.ts'

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
  /** The length in bytes of the whole events at the start of a chunk that may go to the caller unread. Often 0. */
  measurePassable(chunk: Buffer): number
  /** What was measured last, as the caller gets it. Absent: as it came. */
  pass?(events: Buffer): Buffer
  /** The number of events in what was measured last. Absent: they are set apart by blank lines. */
  countEvents?(events: Buffer): number
  /** Calls of tools were in what was measured so far, which its decoder may not have seen. Absent: they are never passed unread. */
  readonly hasPassedCalls?: boolean
  /** What the caller gets for one event; empty: nothing. Of an event with an error it is the output beside it. */
  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array
  /** About how many bytes it keeps of events besides what the canonical ones carried. Absent: next to none. */
  readonly kept?: number
  /** The last frames. */
  finish(end: StreamEnd): string | Uint8Array
  /** The frames of a failure in mid-stream, where they depend on what went before. */
  encodeFault?(fault: ServedFault, requestId: string, baseUrl: string): string | Uint8Array
}
