import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { findReservedPassed } from '../../../upstream/outgoing-body.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { readField } from '../../shared/lost-params.ts'
import { CARRIER_MARK, plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { OWN_NAMES } from './known-fields.ts'

/** A body that is in this format already: only what must differ is written anew. The address names the model. */
export function passRequest(
  request: ChatRequest,
  source: SourceBody,
  dropped: readonly string[],
): Pick<UpstreamRequest, 'body' | 'reserved'> {
  const changes = new Map<string, Json | undefined>()
  const cap = request.maxOutputTokens
  const inference = toObject(readField(source, 'inferenceConfig'))
  if (cap !== undefined && inference?.maxTokens !== cap) {
    changes.set('inferenceConfig', { ...inference, maxTokens: cap })
  }
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  if (hasMarks(source.bytes)) changes.set('messages', cleanMessages(readField(source, 'messages')))
  return { body: spliceObject(source, changes), reserved: findReservedPassed(source, changes, OWN_NAMES) }
}

/** A turn that another provider answered through us carries marks of ours (see reasoning-carrier.ts). */
function hasMarks(bytes: Buffer): boolean {
  return bytes.includes(CARRIER_MARK) || bytes.includes(FOREIGN_SIGNATURE)
}

function cleanMessages(messages: Json | undefined): Json {
  return toObjects(messages).flatMap(message => {
    const content = toObjects(message.content).flatMap(cleanBlock)
    // Nothing is left of a turn that was only thought.
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}

function cleanBlock(block: JsonObject): JsonObject[] {
  const thought = toObject(toObject(block.reasoningContent)?.reasoningText)
  if (thought?.signature === FOREIGN_SIGNATURE) return []
  return [withPlainId(withPlainId(block, 'toolUse'), 'toolResult')]
}

function withPlainId(block: JsonObject, kind: 'toolUse' | 'toolResult'): JsonObject {
  const held = toObject(block[kind])
  const id = held?.toolUseId
  return typeof id === 'string' ? { ...block, [kind]: { ...held, toolUseId: plainToolCallId(id) } } : block
}
