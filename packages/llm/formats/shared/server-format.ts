import type { JsonObject } from '../../json/json-value.ts'
import type { FinishReason } from '../../reply/chat-reply.ts'
import type { ClientFormatId, FormatId } from '../../request/format-id.ts'
import type { StreamEvent } from '../../stream/stream-event.ts'
import type { Bill } from '../../usage/bill.ts'
import type { ParseContext, ParsedChat } from './parsed-chat.ts'
import type { PlainAnswer } from './plain-answer.ts'
import type { ServedFault } from './served-fault.ts'

/** Measures one request. */
export interface RequestClock {
  /** Milliseconds since the request arrived. */
  elapsedMs(): number
}

/** Who answered what, as every frame and reply names it. */
export interface Answered {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  readonly clock: RequestClock
  /** `provider/model` of the target that answered. */
  readonly model: string
  readonly provider: string
  /** The format that the provider answered in: its bytes pass to a caller of the same format only. */
  readonly format: ClientFormatId
  readonly isSandbox: boolean
  /** Did the caller ask for usage in the stream? */
  readonly includeUsage: boolean
  /** The provider's own usage does not follow OpenAI's arithmetic. */
  readonly rewritesUsage: boolean
  /** What was asked. */
  readonly call: ParsedChat
}

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

/** Writes one stream in a surface's format. Pure: gives text or bytes, the relay writes them. */
export interface StreamEncoder {
  /** May this chunk of whole events go to the caller unread? */
  canPass(chunk: Buffer): boolean
  /** Of a chunk that may pass. Absent: they are set apart by blank lines. */
  countEvents?(chunk: Buffer): number
  /** What the caller gets for one event; empty: nothing. */
  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array
  /** The last frames. */
  finish(end: StreamEnd): string | Uint8Array
  /** The frames of a failure in mid-stream, where they depend on what went before. */
  encodeFault?(fault: ServedFault, requestId: string, baseUrl: string): string | Uint8Array
}

/** A format that chat callers speak to us. */
export interface ChatServer {
  readonly id: FormatId
  /** Throws RequestError. */
  parse(body: JsonObject, context: ParseContext): ParsedChat
  encodeReply(answered: Answered, answer: PlainAnswer, bill: Bill): Buffer
  openStream(answered: Answered): StreamEncoder
  /** The frame that ends a stream after its headers are out. */
  encodeStreamFault(fault: ServedFault, requestId: string, baseUrl: string): string | Uint8Array
  /** Of its streams. Absent: server-sent events. */
  readonly streamType?: string
  /** What fills a stream's silence; empty: the format has nothing for it. Absent: a comment of server-sent events. */
  readonly keepAlive?: string | Uint8Array
  /** Goes out where a limit cuts a stream, before its last frames. Absent: a comment of server-sent events. */
  readonly cutNote?: string | Uint8Array
  /** Headers that belong to the format: a provider of the same format gets them too. Lower case. */
  readonly forwardedHeaders?: readonly string[]
}

/** How a format asks for a count, and how it is told. */
export interface CountFormat {
  readonly server: ChatServer
  parse(body: JsonObject, context: ParseContext): ParsedChat
  encode(tokens: number): JsonObject
}
