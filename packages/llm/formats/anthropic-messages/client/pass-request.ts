import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { fitThinking } from '../../shared/reasoning/fit-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { FIELDS } from '../wire/fields.ts'

/**
 * The received bytes of a body in this format, with the fields changed that must differ. `model` undefined: the address
 * names the model, and the body may not. `dropped`: fields that are left out. `added`: further fields.
 */
export function passRequest(
  request: ChatRequest,
  model: string | undefined,
  source: SourceBody,
  dropped: readonly string[] = [],
  added: Readonly<Record<string, Json | undefined>> = {},
): Pick<EncodedRequest, 'body' | 'content'> {
  const changes = new Map<string, Json | undefined>([['model', model]])
  const { maxOutputTokens: cap } = request
  const { thinking, max_tokens: received } = source.value
  if (cap !== undefined) changes.set('max_tokens', cap)
  const fitted = fitThinking(thinking, cap, received)
  if (fitted !== thinking) changes.set('thinking', fitted)
  for (const name of dropped) {
    if (source.fields.has(name) || changes.has(name)) changes.set(name, undefined)
  }
  removeTools(source, dropped, changes)
  // Nested in the messages, so they are written anew; few requests need it.
  if (request.carriesReasoning) changes.set('messages', cleanMessages(source.value.messages))
  for (const name in added) changes.set(name, added[name])
  return {
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value: source.value, changes },
  }
}

/** Removes tools that are left out. Without a tool there is no choice. */
function removeTools(
  { value }: SourceBody,
  dropped: readonly string[],
  changes: Map<string, Json | undefined>,
): void {
  if (!dropped.some(path => path.startsWith('tools[')) || !Array.isArray(value.tools)) return
  const removed = new Set(dropped)
  const kept = value.tools.filter((_, at) => !removed.has(`tools[${at}]`))
  changes.set('tools', kept.length === 0 ? undefined : kept)
  if (kept.length === 0 && value.tool_choice !== undefined) changes.set('tool_choice', undefined)
}

/** The messages without reasoning of another provider: its own state in tool-call ids, and thinking under the gateway's mark. */
function cleanMessages(messages: Json | undefined): Json {
  return toArray(messages).flatMap(message => {
    const object = toObject(message)
    if (object === undefined || !Array.isArray(object.content)) return [message]
    const content = object.content.flatMap(cleanBlock)
    // A message of such thinking alone is left out.
    return content.length === 0 ? [] : [{ ...object, content }]
  })
}

function cleanBlock(value: Json): Json[] {
  const block = toObject(value)
  if (block === undefined) return [value]
  if (block.type === 'thinking' && block.signature === FOREIGN_SIGNATURE) return []
  if (block.type === 'tool_use') return [withPlainId(block, 'id')]
  return block.type === 'tool_result' ? [withPlainId(block, 'tool_use_id')] : [value]
}

function withPlainId(block: JsonObject, name: string): JsonObject {
  const id = block[name]
  return typeof id === 'string' ? { ...block, [name]: plainToolCallId(id) } : block
}
