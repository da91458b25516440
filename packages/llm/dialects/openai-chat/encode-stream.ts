import type { JsonObject, ReplyEnvelope, StreamEvent } from '../../spec.ts'
import { encodeUsage } from './encode-usage.ts'

export interface ChunkEncoder {
  /** The `chat.completion.chunk` objects of one event. Errors and the end are the caller's: they are no chunks. */
  encode(event: StreamEvent): readonly JsonObject[]
}

/** Canonical events as strictly valid chunks: same id in all, a role first, `finish_reason` always named. */
export function openChunkEncoder(
  { id, created, model }: ReplyEnvelope,
  { includeUsage }: { readonly includeUsage: boolean },
): ChunkEncoder {
  const begun = new Set<number>()
  const head = { id, object: 'chat.completion.chunk', created, model }
  return {
    encode(event) {
      if (event.type === 'usage') {
        return includeUsage ? [{ ...head, choices: [], usage: encodeUsage(event.usage) }] : []
      }
      if (event.type !== 'delta') return []
      const isFirst = !begun.has(event.index)
      begun.add(event.index)
      const choice = {
        index: event.index,
        delta: encodeDelta(event, isFirst),
        logprobs: null,
        finish_reason: event.finishReason ?? null,
      }
      return [{ ...head, choices: [choice], ...(includeUsage ? { usage: null } : {}) }]
    },
  }
}

function encodeDelta(event: Extract<StreamEvent, { type: 'delta' }>, isFirst: boolean): JsonObject {
  const delta: JsonObject = isFirst ? { role: 'assistant' } : {}
  if (event.content !== undefined) delta.content = event.content
  if (event.reasoning !== undefined) delta.reasoning_content = event.reasoning
  if (event.reasoningDetails !== undefined) {
    delta.reasoning_details = event.reasoningDetails as unknown as JsonObject[]
  }
  if (event.refusal !== undefined) delta.refusal = event.refusal
  if (event.toolCalls !== undefined) delta.tool_calls = event.toolCalls as unknown as JsonObject[]
  return delta
}
