import type { JsonObject } from '../../json/json-value.ts'
import type { ChatReply } from '../../reply/chat-reply.ts'

/** A provider's whole answer: its bytes, and what they mean. */
export interface PlainAnswer {
  readonly bytes: Buffer
  readonly body: JsonObject
  readonly reply: ChatReply
}
