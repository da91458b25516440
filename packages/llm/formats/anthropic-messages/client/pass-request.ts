import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { findReservedPassed } from '../../../upstream/outgoing-body.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { OWN_NAMES } from './known-fields.ts'

/**
 * A body that is in this format already: only what must differ is written anew. `model` undefined: the address names it,
 * and the body may not.
 */
export function passRequest(
  request: ChatRequest,
  model: string | undefined,
  source: SourceBody,
  dropped: readonly string[] = [],
  extra: Readonly<Record<string, Json | undefined>> = {},
): Pick<UpstreamRequest, 'body' | 'reserved'> {
  const changes = new Map<string, Json | undefined>([['model', model]])
  const cap = request.maxOutputTokens
  if (cap !== undefined && readField(source, 'max_tokens') !== cap) changes.set('max_tokens', cap)
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  if (hasMarks(source.bytes)) changes.set('messages', cleanMessages(readField(source, 'messages')))
  for (const [name, value] of Object.entries(extra)) changes.set(name, value)
  return { body: spliceObject(source, changes), reserved: findReservedPassed(source, changes, OWN_NAMES) }
}

function readField({ bytes, fields }: SourceBody, name: string): Json | undefined {
  const span = fields.get(name)
  if (span === undefined) return undefined
  return JSON.parse(bytes.toString('utf8', span.valueStart, span.valueEnd)) as Json
}

/** A turn that another provider answered through us carries marks of ours (see reasoning-carrier.ts). */
function hasMarks(bytes: Buffer): boolean {
  return bytes.includes('__rd1__') || bytes.includes(FOREIGN_SIGNATURE)
}

function cleanMessages(messages: Json | undefined): Json {
  return toArray(messages).flatMap(message => {
    const object = toObject(message)
    if (object === undefined || !Array.isArray(object.content)) return [message]
    const content = object.content.flatMap(cleanBlock)
    // Nothing is left of a turn that was only thought.
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
