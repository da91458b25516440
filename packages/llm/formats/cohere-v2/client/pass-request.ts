import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { FIELDS } from '../wire/fields.ts'

/** A body that is in this format already: only what must differ is written anew. */
export function passRequest(
  request: ChatRequest,
  model: string,
  source: SourceBody,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content'> {
  const changes = new Map<string, Json | undefined>([['model', model]])
  const cap = request.maxOutputTokens
  if (cap !== undefined && cap !== request.receivedOutputCap) changes.set('max_tokens', cap)
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  const { tools } = source.value
  if (Array.isArray(tools) && dropped.some(path => path.startsWith('tools['))) {
    const removed = new Set(dropped)
    const kept = tools.filter((_, at) => !removed.has(`tools[${at}]`))
    changes.set('tools', kept.length === 0 ? undefined : kept)
    if (kept.length === 0 && source.fields.has('tool_choice')) changes.set('tool_choice', undefined)
  }
  // Messages that another provider answered may carry its state in the ids of their calls.
  if (request.carriesReasoning) {
    changes.set('messages', toObjects(source.value.messages).map(withPlainIds))
  }
  return {
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value: source.value, changes },
  }
}

function withPlainIds(message: JsonObject): JsonObject {
  const { tool_calls: calls, tool_call_id: id } = message
  return {
    ...message,
    ...(typeof id === 'string' ? { tool_call_id: plainToolCallId(id) } : {}),
    ...(Array.isArray(calls) ? { tool_calls: calls.map(withPlainId) } : {}),
  }
}

function withPlainId(value: Json): Json {
  const call = toObject(value)
  return typeof call?.id === 'string' ? { ...call, id: plainToolCallId(call.id) } : value
}
