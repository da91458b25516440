import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { CallCollector } from '../../shared/tools/call-collector.ts'
import {
  encodeCalls,
  encodeChunk,
  findSignature,
  type ReplyOptions,
  toFinishReason,
} from '../wire/encode-reply.ts'

/** A text of which the last character waits. */
interface WaitingText {
  text: string
  readonly isThought: boolean
  signature: string | undefined
}

/**
 * Canonical events as the chunks of this format's stream. A call has no pieces in this format, and pieces of parallel calls
 * may alternate, so calls are written in the last chunk. The last character of a text waits for what follows it: to chat helpers of
 * Google's clients an answer whose last chunk has an empty part is invalid, and they leave it out of the conversation.
 */
export class ContentEncoder {
  readonly #envelope: ReplyEnvelope
  readonly #options: ReplyOptions
  readonly #calls = new CallCollector()
  readonly #details: ReasoningDetail[] = []
  #waiting: WaitingText | undefined

  constructor(envelope: ReplyEnvelope, options: ReplyOptions) {
    this.#envelope = envelope
    this.#options = options
  }

  /** Errors and the end of the stream are written elsewhere. The format has one answer: others are left out. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const { content, refusal, reasoning = '', reasoningDetails } = event
    const parts: JsonObject[] = []
    if (reasoningDetails !== undefined) this.#details.push(...reasoningDetails)
    if (this.#options.thoughts) this.#addText(parts, reasoning, true)
    this.#addText(parts, content ?? refusal ?? '', false)
    const signature = reasoningDetails === undefined ? undefined : findSignature(reasoningDetails, undefined)
    if (signature !== undefined) this.#sign(parts, signature)
    for (const call of event.toolCalls ?? []) this.#calls.add(call)
    return this.#toChunks(parts)
  }

  /** What waits, for a stream that has no last chunk. */
  flush(): readonly JsonObject[] {
    return this.#toChunks(this.#takeWaiting())
  }

  /** The last chunk: the rest of the text, calls, the reason to stop, and usage. */
  finish(reason: FinishReason, usage: Usage): JsonObject {
    const parts = [...this.#takeWaiting(), ...encodeCalls(this.#calls.take(reason), this.#details)]
    const content = { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' }
    const candidate = { content, finishReason: toFinishReason(reason), index: 0 }
    return encodeChunk([candidate], this.#envelope, usage)
  }

  #toChunks(parts: JsonObject[]): readonly JsonObject[] {
    if (parts.length === 0) return []
    return [encodeChunk([{ content: { parts, role: 'model' }, index: 0 }], this.#envelope, undefined)]
  }

  #addText(parts: JsonObject[], text: string, isThought: boolean): void {
    if (text === '') return
    const waiting = this.#waiting
    const isNext = waiting?.isThought === isThought && waiting.signature === undefined
    if (!isNext) parts.push(...this.#takeWaiting())
    const whole = isNext ? waiting.text + text : text
    const end = startOfLastCharacter(whole)
    if (end > 0) parts.push(toPart({ text: whole.slice(0, end), isThought, signature: undefined }))
    this.#waiting = { text: whole.slice(end), isThought, signature: undefined }
  }

  /** Puts a signature on the text that it belongs to, or on an empty one. */
  #sign(parts: JsonObject[], signature: string): void {
    if (this.#waiting?.isThought !== false || this.#waiting.signature !== undefined) {
      parts.push(...this.#takeWaiting())
      this.#waiting = { text: '', isThought: false, signature: undefined }
    }
    this.#waiting.signature = signature
  }

  #takeWaiting(): JsonObject[] {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting === undefined ? [] : [toPart(waiting)]
  }
}

/** The place of the last character, which may be a pair of surrogates. */
function startOfLastCharacter(text: string): number {
  const isPair = text.length > 1 && (text.codePointAt(text.length - 2) ?? 0) > 0xffff
  return text.length - (isPair ? 2 : 1)
}

function toPart({ text, isThought, signature }: WaitingText): JsonObject {
  const part: JsonObject = { text }
  if (isThought) part.thought = true
  if (signature !== undefined) part.thoughtSignature = signature
  return part
}
