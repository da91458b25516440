import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'

/**
 * An aggregator requires the reasoning of the models that it offers back with the next request. If its answer passes
 * through, each signed or encrypted piece is marked with the aggregator, and the ids of calls carry the reasoning for
 * clients that keep standard fields only, as in a translated answer.
 */

/** The `choices` of a reply with marked reasoning; undefined: it has none. */
export function markChoices(body: JsonObject, reply: ChatReply): Json[] | undefined {
  const hasDetails = reply.choices.some(({ message }) => message.reasoning_details !== undefined)
  if (!hasDetails || !Array.isArray(body.choices)) return undefined
  const packed = byPlainId(reply.choices.flatMap(({ message }) => message.tool_calls ?? []))
  const via = reply.choices.flatMap(({ message }) => message.reasoning_details ?? [])[0]?.via
  return body.choices.map(choice => markChoice(choice, 'message', packed, via))
}

/** Returns one chunk of a stream with marked reasoning. */
export function markChunk(chunk: JsonObject, events: readonly StreamEvent[], via: string): JsonObject {
  if (!Array.isArray(chunk.choices)) return chunk
  const deltas = events.filter(event => event.type === 'delta')
  const packed = byPlainId(deltas.flatMap(({ toolCalls }) => toolCalls ?? []))
  return { ...chunk, choices: chunk.choices.map(choice => markChoice(choice, 'delta', packed, via)) }
}

/** The ids of calls that carry reasoning, by the ids that the provider gave them. */
function byPlainId(calls: readonly { readonly id?: string }[]): ReadonlyMap<string, string> {
  const packed = new Map<string, string>()
  for (const { id } of calls) {
    const plain = id === undefined ? undefined : plainToolCallId(id)
    if (id !== undefined && plain !== undefined && plain !== id && !packed.has(plain)) packed.set(plain, id)
  }
  return packed
}

function markChoice(
  value: Json,
  field: 'message' | 'delta',
  packed: ReadonlyMap<string, string>,
  via: string | undefined,
): Json {
  const choice = toObject(value)
  const message = toObject(choice?.[field])
  if (choice === undefined || message === undefined) return value
  const calls = toObjects(message.tool_calls).map(call => {
    const id = typeof call.id === 'string' ? packed.get(call.id) : undefined
    return id === undefined ? call : { ...call, id }
  })
  const details = toObjects(message.reasoning_details).map(detail =>
    isSealed(detail) && via !== undefined ? { ...detail, via } : detail,
  )
  return {
    ...choice,
    [field]: {
      ...message,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    },
  }
}

/** Other providers refuse signed or encrypted reasoning only. */
function isSealed({ signature, data }: JsonObject): boolean {
  return [signature, data].some(text => typeof text === 'string' && text !== '')
}
