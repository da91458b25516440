import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamEvent } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { CallCollector } from '../../shared/tools/call-collector.ts'
import {
  encodeCalls,
  encodeChunk,
  findSignature,
  type ReplyOptions,
  toFinishReason,
} from '../wire/encode-reply.ts'

/**
 * Canonical events as the chunks of this format's stream. A call has no pieces in this format, and pieces of parallel calls
 * may alternate, so calls are written in the last chunk.
 */
export class ContentEncoder {
  readonly #envelope: ReplyEnvelope
  readonly #options: ReplyOptions
  readonly #calls = new CallCollector()
  readonly #details: ReasoningDetail[] = []

  constructor(envelope: ReplyEnvelope, options: ReplyOptions) {
    this.#envelope = envelope
    this.#options = options
  }

  /** Errors and the end of the stream are written elsewhere. The format has one answer: others are left out. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const parts: JsonObject[] = []
    if (event.reasoningDetails !== undefined) this.#details.push(...event.reasoningDetails)
    if (this.#options.thoughts && event.reasoning !== undefined && event.reasoning !== '') {
      parts.push({ text: event.reasoning, thought: true })
    }
    this.#addText(parts, event)
    for (const call of event.toolCalls ?? []) this.#calls.add(call)
    return parts.length === 0 ? [] : [this.#toChunk(parts)]
  }

  /** The last chunk: calls, the reason to stop, and usage. */
  finish(reason: FinishReason, usage: Usage): JsonObject {
    const parts = encodeCalls(this.#calls.take(reason), this.#details)
    const content = { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' }
    const candidate = { content, finishReason: toFinishReason(reason), index: 0 }
    return encodeChunk([candidate], this.#envelope, usage)
  }

  #toChunk(parts: JsonObject[]): JsonObject {
    return encodeChunk([{ content: { parts, role: 'model' }, index: 0 }], this.#envelope, undefined)
  }

  #addText(parts: JsonObject[], { content, refusal, reasoningDetails }: DeltaEvent): void {
    const text = content ?? refusal ?? ''
    const signature = reasoningDetails === undefined ? undefined : findSignature(reasoningDetails, undefined)
    if (text === '' && signature === undefined) return
    const part: JsonObject = { text }
    if (signature !== undefined) part.thoughtSignature = signature
    parts.push(part)
  }
}
