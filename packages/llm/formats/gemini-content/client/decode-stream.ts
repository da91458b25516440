import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toIndex, toObject, toObjects, toText } from '../../../json/json-value.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamError } from '../../../upstream/upstream-error.ts'
import type { Usage } from '../../../usage/usage.ts'
import { toReplyId } from '../../shared/answers/decode-message.ts'
import { withHosted } from '../../shared/tools/hosted-tools.ts'
import { CandidateDecoder } from './decode-candidate.ts'
import { decodeErrorBody } from './decode-error.ts'
import { decodeUsage } from './decode-usage.ts'
import { Grounding } from './grounding.ts'

export function openStream(target: Target): StreamDecoder {
  return new ChunkDecoder(target)
}

/** Decodes GenerateContentResponse objects: the frames of a stream, or a plain answer as its only frame. */
export class ChunkDecoder implements StreamDecoder {
  readonly #candidates = new Map<number, CandidateDecoder>()
  readonly #grounding: Grounding
  #replyId = ''
  readonly #budget = new CallBudget()
  #usage: Usage | undefined

  constructor(target: Target) {
    this.#grounding = new Grounding(target)
  }

  get unsent(): number {
    let sum = this.#grounding.size
    for (const candidate of this.#candidates.values()) sum += candidate.size
    return sum
  }

  decode(data: string): readonly StreamEvent[] {
    let value: Json
    try {
      value = JSON.parse(data) as Json
    } catch {
      return [{ type: 'error', error: brokenFrame(data) }]
    }
    // Errors, and streams without framing, come as a list.
    const chunks = Array.isArray(value) ? toObjects(value) : [toObject(value)]
    return chunks.flatMap(chunk =>
      chunk === undefined ? [{ type: 'error', error: brokenFrame(data) } as const] : this.decodeChunk(chunk),
    )
  }

  decodeChunk(chunk: JsonObject): readonly StreamEvent[] {
    const events: StreamEvent[] = []
    if (this.#replyId === '') this.#replyId = toReplyId(chunk.responseId)
    const isGrounded = this.#grounding.add(chunk)
    const reported = decodeUsage(chunk)
    if (reported !== undefined) this.#usage = reported
    const isNews = reported !== undefined || isGrounded
    const usage = isNews ? withHosted(this.#usage, this.#grounding.price()) : undefined
    // Before an error, because the provider charges for a failed answer too.
    if (usage !== undefined) events.push({ type: 'usage', usage })
    if (chunk.error !== undefined && chunk.error !== null) {
      events.push({ type: 'error', error: decodeErrorBody(chunk) })
      return events
    }
    const candidates = toArray(chunk.candidates)
    for (const item of candidates) {
      const candidate = toObject(item)
      if (candidate !== undefined) this.#decoderOf(candidate).decode(candidate, events)
    }
    // A blocked prompt has no candidate.
    if (candidates.length === 0 && toText(toObject(chunk.promptFeedback)?.blockReason) !== undefined) {
      events.push({ type: 'delta', index: 0, finishReason: 'content_filter' })
    }
    return events
  }

  #decoderOf(candidate: JsonObject): CandidateDecoder {
    const index = toIndex(candidate.index) ?? 0
    let decoder = this.#candidates.get(index)
    if (decoder === undefined) {
      decoder = new CandidateDecoder(index, this.#replyId, this.#budget)
      this.#candidates.set(index, decoder)
    }
    return decoder
  }
}

function brokenFrame(data: string): UpstreamError {
  return { kind: 'interrupted', detail: `a frame of the stream is not a JSON object: ${data.slice(0, 200)}` }
}
