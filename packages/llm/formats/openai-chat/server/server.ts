import { scanJson } from '../../../json/json-scan.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { toEnvelope } from '../../shared/error-envelope.ts'
import type { PlainAnswer } from '../../shared/plain-answer.ts'
import { CARRIER_MARK } from '../../shared/reasoning-carrier.ts'
import type {
  Answered,
  ChatServer,
  StreamEncoder,
  StreamEnd,
  UpstreamEvent,
} from '../../shared/server-format.ts'
import { encodeReply } from './encode-reply.ts'
import { type ChunkEncoder, openChunkEncoder } from './encode-stream.ts'
import { encodeUsage } from './encode-usage.ts'
import { parseRequest } from './parse-request.ts'
import { markChoices, markChunk } from './passed-reasoning.ts'

/**
 * `{prefix}/v1/chat/completions` over a provider that speaks the same format: the provider's bytes pass through, except
 * for usage, which always follows OpenAI's arithmetic and is sent in a stream only where it was asked for.
 */
export const openAiChatServer: ChatServer = {
  id: 'openai-chat',
  parse: parseRequest,
  encodeReply: toCompatReply,
  openStream: answered =>
    answered.format === 'openai-chat' ? new PassedStream(answered) : new TranslatedStream(answered),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `data: ${JSON.stringify(toEnvelope(fault, requestId, baseUrl))}\n\n`,
}

function toCompatReply(answered: Answered, answer: PlainAnswer, bill: Bill): Buffer {
  if (answered.format !== 'openai-chat') {
    const reply = encodeReply({ ...answer.reply, usage: bill.usage }, envelopeOf(answered))
    return Buffer.from(JSON.stringify(reply))
  }
  const changes = new Map<string, Json>()
  if (answered.rewritesUsage || answer.reply.usage === undefined)
    changes.set('usage', encodeUsage(bill.usage))
  const choices = markPassed(answer)
  if (choices !== undefined) changes.set('choices', choices)
  const scan = changes.size === 0 ? undefined : scanJson(answer.bytes)
  if (scan === undefined || !scan.ok) return answer.bytes
  return spliceObject({ bytes: answer.bytes, fields: scan.fields }, changes)
}

function markPassed({ bytes, reply }: PlainAnswer): Json[] | undefined {
  if (!reply.choices.some(({ message }) => message.reasoning_details !== undefined)) return undefined
  const body = parseChunk(bytes.toString())
  return body === undefined ? undefined : markChoices(body, reply)
}

function envelopeOf({ requestId, created, model }: Answered): ReplyEnvelope {
  return { id: `chatcmpl-${requestId}`, created, model }
}

/** What another format said, as strictly valid chunks. */
class TranslatedStream implements StreamEncoder {
  readonly #answered: Answered
  readonly #chunks: ChunkEncoder

  constructor(answered: Answered) {
    this.#answered = answered
    this.#chunks = openChunkEncoder(envelopeOf(answered), { includeUsage: answered.includeUsage })
  }

  canPass(): boolean {
    return false
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) {
      // Usage comes once, at the end, and by the bill.
      if (event.type === 'usage') continue
      frames += this.#chunks.encodeFrames(event)
    }
    return frames
  }

  finish(end: StreamEnd): string {
    let frames = ''
    const last: StreamEvent[] = []
    if (!end.isFinishSent) last.push({ type: 'delta', index: 0, finishReason: end.finishReason })
    if (this.#answered.includeUsage) last.push({ type: 'usage', usage: end.bill.usage })
    for (const event of last) frames += this.#chunks.encodeFrames(event)
    return `${frames}data: [DONE]\n\n`
  }
}

const NEWLINE = 10

class PassedStream implements StreamEncoder {
  readonly #answered: Answered
  /** The last chunk that was decoded: what we add ourselves takes its id, model and time from it. */
  #template: JsonObject | undefined
  /** Reasoning that wants to come back was seen: what goes on with it, and the calls after it, must be read. */
  #hasDetails = false

  constructor(answered: Answered) {
    this.#answered = answered
  }

  /** Whole events of plain deltas: nothing in them that the gateway must see or change. */
  canPass(chunk: Buffer): boolean {
    const { length } = chunk
    if (length < 2 || chunk[length - 1] !== NEWLINE || chunk[length - 2] !== NEWLINE) return false
    const text = chunk.toString('latin1')
    this.#hasDetails ||= text.includes('"reasoning_details"')
    return (
      this.#template !== undefined &&
      !(this.#hasDetails && (text.includes('"reasoning_details"') || text.includes('"tool_calls"'))) &&
      !text.includes('"error"') &&
      !text.includes('[DONE]') &&
      isNullOrAbsent(text, '"usage"') &&
      isNullOrAbsent(text, '"finish_reason"')
    )
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (events.some(({ type }) => type === 'end')) return ''
    const hasUsage = events.some(({ type }) => type === 'usage')
    const isMarked = isSealed(event.data) || carries(events)
    if (this.#template === undefined || hasUsage || isMarked) {
      const parsed = parseChunk(event.data)
      const chunk = parsed && isMarked ? markChunk(parsed, events, this.#answered.provider) : parsed
      if (chunk !== undefined) {
        // Some begin with a chunk that tells of the prompt only, under no id.
        if (chunk.id !== '') this.#template = chunk
        if (hasUsage) return this.#encodeUsageChunk(chunk, events, isMarked ? toFrame(chunk) : event.raw)
        if (isMarked) return toFrame(chunk)
      }
    }
    return event.raw
  }

  finish(end: StreamEnd): string {
    let frames = ''
    if (!end.isFinishSent) {
      const choice = { index: 0, delta: {}, logprobs: null, finish_reason: end.finishReason }
      frames += this.#frame({ choices: [choice] })
    }
    if (this.#answered.includeUsage && !end.isUsageSent) {
      frames += this.#frame({ choices: [], usage: encodeUsage(end.bill.usage) })
    }
    return `${frames}data: [DONE]\n\n`
  }

  #encodeUsageChunk(
    chunk: JsonObject,
    events: readonly StreamEvent[],
    asItCame: string | Uint8Array,
  ): string | Uint8Array {
    const { includeUsage, rewritesUsage } = this.#answered
    if (includeUsage && !rewritesUsage) return asItCame
    if (includeUsage) {
      const found = events.find(each => each.type === 'usage')
      return toFrame({ ...chunk, usage: found === undefined ? null : encodeUsage(found.usage) })
    }
    // Not asked for: the chunk that only carries it stays here, one that carries more goes without it.
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) return ''
    return toFrame({ ...chunk, usage: undefined, x_groq: undefined })
  }

  #frame(fields: JsonObject): string {
    const { id, model, created } = this.#template ?? {}
    return toFrame({
      id: id ?? `chatcmpl-${this.#answered.requestId}`,
      object: 'chat.completion.chunk',
      created: created ?? this.#answered.created,
      model: model ?? this.#answered.model,
      ...fields,
    })
  }
}

/** Signed or encrypted reasoning: the client needs our mark on it. */
function isSealed(data: string): boolean {
  return data.includes('"reasoning_details"') && /"(?:signature|data)"\s*:\s*"[^"]/.test(data)
}

/** Did a call get an id that carries reasoning? */
function carries(events: readonly StreamEvent[]): boolean {
  return events.some(
    event => event.type === 'delta' && event.toolCalls?.some(({ id }) => id?.includes(CARRIER_MARK)) === true,
  )
}

function toFrame(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function parseChunk(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined
  } catch {
    return undefined
  }
}

/** Is every occurrence of this quoted key followed by null? (A quote inside a JSON string is escaped, so it is a key.) */
function isNullOrAbsent(text: string, quotedKey: string): boolean {
  for (let at = text.indexOf(quotedKey); at >= 0; at = text.indexOf(quotedKey, at)) {
    at += quotedKey.length
    while (text[at] === ' ' || text[at] === ':') at++
    if (!text.startsWith('null', at)) return false
  }
  return true
}
