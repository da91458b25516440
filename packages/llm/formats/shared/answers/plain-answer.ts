import type { FieldSpan } from '../../../json/field-span.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'

/** A provider's whole answer: its bytes, and what they mean. */
export interface PlainAnswer {
  readonly bytes: Buffer
  readonly body: JsonObject
  /** The position of each top-level field in the bytes, if parsing found it. */
  readonly fields?: ReadonlyMap<string, FieldSpan> | undefined
  readonly reply: ChatReply
}
