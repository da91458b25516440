import type { JsonObject } from '../../../json/json-value.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, StreamEvent } from '../../../stream/stream-event.ts'
import { markDirect } from '../../shared/reasoning/reasoning-carrier.ts'
import { toWireFinish } from './encode-reply.ts'
import { encodeUsage } from './encode-usage.ts'

export interface ChunkEncoder {
  /** The `chat.completion.chunk` objects of one event. Errors and the end of a stream have none. */
  encode(event: StreamEvent): readonly JsonObject[]
  /** Returns the chunks of one event as server-sent events; empty if the event has no chunk. */
  encodeFrames(event: StreamEvent): string
}

/**
 * Encodes canonical events as chunks that OpenAI's published schema accepts: all have one id, the first of a choice has the
 * role, and each names `finish_reason`.
 */
export function openChunkEncoder(
  { id, created, model }: ReplyEnvelope,
  {
    includeUsage,
    callsFunctions = false,
  }: { readonly includeUsage: boolean; readonly callsFunctions?: boolean },
): ChunkEncoder {
  const begun = new Set<number>()
  const head = { id, object: 'chat.completion.chunk', created, model }
  const encode = (event: StreamEvent): readonly JsonObject[] => {
    if (event.type === 'usage') {
      return includeUsage ? [{ ...head, choices: [], usage: encodeUsage(event.usage) }] : []
    }
    if (event.type !== 'delta') return []
    const isFirst = !begun.has(event.index)
    begun.add(event.index)
    const choice = {
      index: event.index,
      delta: encodeDelta(event, isFirst, callsFunctions),
      logprobs: null,
      finish_reason:
        event.finishReason === undefined ? null : toWireFinish(event.finishReason, callsFunctions),
    }
    return [{ ...head, choices: [choice], ...(includeUsage ? { usage: null } : {}) }]
  }
  // Nearly every chunk is one text in the same frame. To write the text alone takes a third of the time.
  const open = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":`
  const close = `},"logprobs":null,"finish_reason":null}]${includeUsage ? ',"usage":null' : ''}}\n\n`
  return {
    encode,
    encodeFrames(event) {
      if (event.type === 'delta' && begun.has(event.index)) {
        const field = findOnlyText(event)
        if (field !== undefined) {
          return `${open}${event.index},"delta":{"${WIRE_TEXTS[field]}":${JSON.stringify(event[field])}${close}`
        }
      }
      return encode(event)
        .map(chunk => `data: ${JSON.stringify(chunk)}\n\n`)
        .join('')
    },
  }
}

const WIRE_TEXTS = { content: 'content', reasoning: 'reasoning_content' } as const

/** The field of a delta that has nothing but this text; undefined: it has other fields. */
function findOnlyText(event: DeltaEvent): keyof typeof WIRE_TEXTS | undefined {
  const { content, reasoning, reasoningDetails, refusal, toolCalls, finishReason } = event
  const isTextOnly =
    reasoningDetails === undefined &&
    refusal === undefined &&
    toolCalls === undefined &&
    finishReason === undefined
  if (!isTextOnly || (content === undefined) === (reasoning === undefined)) return undefined
  return content === undefined ? 'reasoning' : 'content'
}

export function encodeDelta(event: DeltaEvent, isFirst: boolean, callsFunctions: boolean): JsonObject {
  const delta: JsonObject = isFirst ? { role: 'assistant' } : {}
  if (event.content !== undefined) delta.content = event.content
  if (event.reasoning !== undefined) delta.reasoning_content = event.reasoning
  if (event.reasoningDetails !== undefined) {
    delta.reasoning_details = markDirect(event.reasoningDetails) as unknown as JsonObject[]
  }
  if (event.refusal !== undefined) delta.refusal = event.refusal
  if (event.toolCalls === undefined) return delta
  if (!callsFunctions) delta.tool_calls = event.toolCalls as unknown as JsonObject[]
  else {
    // The older field has one call.
    const call = event.toolCalls.find(({ index }) => index === 0)
    if (call?.function !== undefined) delta.function_call = call.function as unknown as JsonObject
  }
  return delta
}
