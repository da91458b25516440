import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { FIELDS } from '../wire/fields.ts'
import { fitBudgets } from './fit-budgets.ts'

/**
 * The received bytes of a body in this format, with the fields changed that must differ. The address names the model.
 * `dropped`: fields that are left out.
 */
export function passRequest(
  request: ChatRequest,
  source: SourceBody,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content'> {
  const changes = new Map<string, Json | undefined>()
  const cap = request.maxOutputTokens
  // The cap and the messages are nested, so where they change their whole field is written anew.
  if (cap !== undefined && cap !== request.receivedOutputCap) {
    // A copy, since the next attempt reads the same value.
    changes.set('inferenceConfig', { ...toObject(source.value.inferenceConfig), maxTokens: cap })
  }
  const { fields } = fitBudgets(source.value, request)
  if (fields !== toObject(source.value.additionalModelRequestFields)) {
    changes.set('additionalModelRequestFields', fields)
  }
  for (const name of dropped) changes.set(name, undefined)
  if (request.carriesReasoning) changes.set('messages', cleanMessages(source.value.messages))
  return {
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value: source.value, changes },
  }
}

/** The messages without reasoning of another provider: its own state in tool-call ids, and reasoning under the gateway's mark. */
function cleanMessages(messages: Json | undefined): Json {
  return toObjects(messages).flatMap(message => {
    const content = toObjects(message.content).flatMap(cleanBlock)
    // A message of such reasoning alone is left out.
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
