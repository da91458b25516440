import type { JsonObject } from '../../json/json-value.ts'
import type { SentBody } from '../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../reply/chat-reply.ts'
import type { ClientFormatId, FormatId } from '../../request/format-id.ts'
import type { Bill } from '../../usage/bill.ts'
import type { PlainAnswer } from './answers/plain-answer.ts'
import type { StreamEncoder } from './answers/stream-encoder.ts'
import type { ServedFault } from './errors/served-fault.ts'
import type { ParseContext, ParsedChat } from './requests/parsed-chat.ts'

/** Measures one request. */
export interface RequestClock {
  /** Milliseconds since the request arrived. */
  elapsedMs(): number
}

/** What replies and the frames of a stream say of the request and of the target that answered it. */
export interface ReplyContext {
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
  /** True if the caller asked for usage in the stream. */
  readonly includeUsage: boolean
  /** What was asked, without what an open stream does not keep. */
  readonly parsed: Omit<ParsedChat, 'request' | 'findings' | 'loggedUser' | 'endUser'>
}

/** A request that is embedded in a body: in a format of its own, or still as text. */
export type EmbeddedRequest =
  | {
      readonly format: FormatId
      readonly value: JsonObject
      /** Throws RequestError. */
      parse(body: JsonObject, context: ParseContext): ParsedChat
      /** Headers of that format which stood in the body. Lower case. */
      readonly headers?: Readonly<Record<string, string>>
    }
  /** `read` takes what the bytes say. Making long ones may throw RequestError. */
  | { readonly bytes: SentBody; read(value: JsonObject): Extract<EmbeddedRequest, { value: JsonObject }> }

/** Returns the request that is embedded in a body. Throws RequestError. */
export type OpenBody = (body: JsonObject, pathModel: string) => EmbeddedRequest

export type EncodeModelLoad = (envelope: ReplyEnvelope, parsed: ParsedChat) => JsonObject

/** What is sent during silence. */
export type KeepAlive = string | Uint8Array | EarlyStart

/**
 * For a format whose clients accept nothing between two frames: the first keep-alive of a silence is the start of the next
 * frame, and each further one continues it. The next frame then goes out without its start.
 */
export interface EarlyStart {
  /** Everything that the format's encoders return begins with it. */
  readonly start: string
  /** May follow the start any number of times. */
  readonly filler: string
}

/** A format that chat callers speak to us. */
export interface ChatServer {
  readonly id: FormatId
  /** For a format whose body embeds the request. Absent: the body is the request. */
  readonly open?: OpenBody
  /** Throws RequestError. */
  parse(body: JsonObject, context: ParseContext): ParsedChat
  encodeReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody
  /** `mayBeCut`: a limit may end the stream before its provider does, so that the gateway writes its end. Absent: none can. */
  openStream(context: ReplyContext, mayBeCut?: boolean): StreamEncoder
  /** The answer to a body that asks for nothing but its model. Absent: no body of the format does. */
  readonly encodeModelLoad?: EncodeModelLoad
  /** The frame that ends a stream after its headers are out. */
  encodeStreamFault(fault: ServedFault, requestId: string, baseUrl: string): string | Uint8Array
  /** The Content-Type of the format's streams. Absent: server-sent events. */
  readonly streamType?: string
  /** What fills a stream's silence; empty: the format has nothing for it. Absent: a comment of server-sent events. */
  readonly keepAlive?: KeepAlive
  /** Goes out where a limit cuts a stream, before its last frames. Absent: a comment of server-sent events. */
  readonly cutNote?: string | Uint8Array
  /** Headers that belong to the format: a provider of the same format gets them too. Lower case. */
  readonly forwardedHeaders?: readonly string[]
}

/** How a format asks for a token count, and how the count is answered. */
export interface CountFormat {
  readonly server: ChatServer
  /** See ChatServer. */
  readonly open?: OpenBody
  parse(body: JsonObject, context: ParseContext): ParsedChat
  encode(tokens: number): JsonObject
}
