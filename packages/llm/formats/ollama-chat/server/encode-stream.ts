import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { CallCollector } from '../../shared/tools/call-collector.ts'
import { encodeCall, encodeEnd, encodeHead, type Head, type ReplyTiming } from './encode-reply.ts'

/** Encodes canonical events as lines. A call has no pieces in this format: calls are sent before the last line. */
export class LineEncoder {
  readonly #head: Head
  readonly #calls = new CallCollector()

  constructor(envelope: ReplyEnvelope) {
    this.#head = encodeHead(envelope)
  }

  /** The lines of one event. Errors and the end of a stream have none. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    for (const call of event.toolCalls ?? []) this.#calls.add(call)
    const { reasoning = '' } = event
    const text = event.content ?? event.refusal ?? ''
    if (text === '' && reasoning === '') return []
    const message: JsonObject = { role: 'assistant', content: text }
    if (reasoning !== '') message.thinking = reasoning
    return [this.#toLine(message)]
  }

  finish(reason: FinishReason, usage: Usage, timing: ReplyTiming): readonly JsonObject[] {
    const calls = this.#calls.take(reason).map(encodeCall)
    const message = { role: 'assistant', content: '' }
    return [
      ...(calls.length === 0 ? [] : [this.#toLine({ role: 'assistant', content: '', tool_calls: calls })]),
      { ...this.#head, message, ...encodeEnd(reason, usage, timing) },
    ]
  }

  #toLine(message: JsonObject): JsonObject {
    return { model: this.#head.model, created_at: this.#head.created_at, message, done: false }
  }
}
