import { type JsonObject, toObject } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { hasOpenAiArithmetic } from '../../shared/answers/decode-usage.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import { CARRIER_MARK } from '../../shared/reasoning/reasoning-carrier.ts'
import type { ReplyContext } from '../../shared/server-format.ts'
import { DeltaScan } from './delta-scan.ts'
import { encodeDelta } from './encode-stream.ts'
import { correctUsage, encodeUsage } from './encode-usage.ts'
import { markChunk } from './passed-reasoning.ts'

/**
 * The stream of a provider of the same format: its bytes pass through, except for usage, which is sent only where it was
 * asked for, and reasoning that has to come back to the provider.
 */
export class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #scan = new DeltaScan()
  /** The last decoded chunk: chunks that the gateway adds take their id, model and time from it. */
  #template: JsonObject | undefined

  constructor(context: ReplyContext) {
    this.#context = context
  }

  measurePassable(chunk: Buffer): number {
    this.#scan.scan(chunk)
    return this.#template === undefined ? 0 : this.#scan.length
  }

  get hasPassedCalls(): boolean {
    return this.#scan.hasCalls
  }

  countEvents(): number {
    return this.#scan.events
  }

  pass(chunk: Buffer): Buffer {
    return this.#context.includeUsage ? chunk : without(chunk, this.#scan.nulls)
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    const bytes = this.#encode(events, event)
    return this.#context.includeUsage || typeof bytes === 'string'
      ? bytes
      : withoutNullUsage(Buffer.from(bytes))
  }

  #encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (event.data.includes('"reasoning_details"')) this.#scan.hasDetails = true
    if (events.some(({ type }) => type === 'end')) return ''
    if (events.some(({ type }) => type === 'error')) return this.#encodeOutput(events)
    const hasUsage = events.some(({ type }) => type === 'usage')
    const isMarked = isSealed(event.data) || carries(events)
    if (this.#template === undefined || hasUsage || isMarked) {
      const parsed = parseObject(event.data)
      const chunk = parsed && isMarked ? markChunk(parsed, events, this.#context.provider) : parsed
      if (chunk !== undefined) {
        // Some providers begin with a chunk about the prompt, whose id is empty.
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
    if (this.#context.includeUsage && !end.isUsageSent) {
      frames += this.#frame({ choices: [], usage: encodeUsage(end.bill.usage) })
    }
    return `${frames}data: [DONE]\n\n`
  }

  /** The output beside an error, which callers get in the gateway's words. */
  #encodeOutput(events: readonly StreamEvent[]): string {
    const choices = events
      .filter(event => event.type === 'delta')
      .map(delta => {
        const encoded = encodeDelta(delta, false, false)
        return {
          index: delta.index,
          delta: encoded,
          logprobs: null,
          finish_reason: delta.finishReason ?? null,
        }
      })
    return choices.length === 0 ? '' : this.#frame({ choices })
  }

  #encodeUsageChunk(
    chunk: JsonObject,
    events: readonly StreamEvent[],
    asItCame: string | Uint8Array,
  ): string | Uint8Array {
    if (this.#context.includeUsage) {
      const found = events.find(event => event.type === 'usage')
      if (found === undefined || toObject(chunk.usage) === undefined) return asItCame
      if (hasOpenAiArithmetic(chunk, found.usage)) return asItCame
      return toFrame({ ...chunk, usage: correctUsage(chunk.usage, found.usage) })
    }
    // Usage was not asked for: a chunk of usage alone is left out, another one goes without it.
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) return ''
    return toFrame({ ...chunk, usage: undefined, x_groq: undefined })
  }

  #frame(fields: JsonObject): string {
    const { id, model, created } = this.#template ?? {}
    return toFrame({
      id: id ?? `chatcmpl-${this.#context.requestId}`,
      object: 'chat.completion.chunk',
      created: created ?? this.#context.created,
      model: model ?? this.#context.model,
      ...fields,
    })
  }
}

const NULL_USAGE = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,/g

/**
 * The event without `"usage": null`, which providers send in every event because the gateway asks for usage: some clients
 * read it as usage. Inside a JSON string quotes are escaped, so nothing else is found.
 */
function withoutNullUsage(event: Buffer): Buffer {
  if (!event.includes('"usage"')) return event
  return Buffer.from(event.toString('latin1').replace(NULL_USAGE, ''), 'latin1')
}

/** The chunk without these ranges: the start and the end of each, in order. */
function without(chunk: Buffer, ranges: readonly number[]): Buffer {
  if (ranges.length === 0) return chunk
  const rest = Buffer.allocUnsafe(chunk.length)
  let length = 0
  let from = 0
  for (let i = 0; i < ranges.length; i += 2) {
    length += chunk.copy(rest, length, from, ranges[i])
    from = ranges[i + 1] ?? from
  }
  length += chunk.copy(rest, length, from)
  return rest.subarray(0, length)
}

/** Returns true if the chunk has signed or encrypted reasoning, to which the client needs the gateway's mark. */
function isSealed(data: string): boolean {
  return data.includes('"reasoning_details"') && /"(?:signature|data)"\s*:\s*"[^"]/.test(data)
}

/** Returns true if the decoder packed reasoning into the id of a call. */
function carries(events: readonly StreamEvent[]): boolean {
  return events.some(
    event => event.type === 'delta' && event.toolCalls?.some(({ id }) => id?.includes(CARRIER_MARK)) === true,
  )
}

function toFrame(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
