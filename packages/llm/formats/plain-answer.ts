import type { ChatReply, JsonObject } from '../spec.ts'

/** A provider's whole answer: its bytes, and what they mean. */
export interface PlainAnswer {
  readonly bytes: Buffer
  readonly body: JsonObject
  readonly reply: ChatReply
}
