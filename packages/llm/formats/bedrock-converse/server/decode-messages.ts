import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { decodeParts, toCacheControl, toContent } from './decode-blocks.ts'

/** The `system` and `messages` of a caller of this format as canonical messages. */
export function decodeMessages(
  system: Json | undefined,
  messages: Json | undefined,
  nativeOnly: string[],
): Message[] {
  const decoded: Message[] = []
  const instructions = decodeParts({ blocks: toObjects(system), path: 'system' }, nativeOnly)
  if (instructions.length > 0) decoded.push({ role: 'system', content: toContent(instructions) })
  for (const [at, message] of toObjects(messages).entries()) {
    const blocks = toObjects(message.content)
    const path = `messages[${at}].content`
    const parts = decodeParts({ blocks, path }, nativeOnly)
    if (message.role === 'assistant') decoded.push(decodeAssistant(blocks, parts))
    else {
      const results = decodeResults(blocks, path, nativeOnly)
      decoded.push(...results)
      // Results of calls are messages of their own, and go before what else the user says.
      if (parts.length > 0 || results.length === 0) decoded.push({ role: 'user', content: toContent(parts) })
    }
  }
  return decoded
}

function decodeResults(blocks: readonly JsonObject[], path: string, nativeOnly: string[]): Message[] {
  return blocks.flatMap((block, at) => {
    const result = toObject(block.toolResult)
    if (result === undefined) return []
    const content = { blocks: toObjects(result.content), path: `${path}[${at}].toolResult.content` }
    const mark = blocks[at + 1]?.cachePoint
    return {
      role: 'tool' as const,
      tool_call_id: toText(result.toolUseId) ?? '',
      content: toContent(decodeParts(content, nativeOnly)),
      ...(result.status === 'error' ? { is_error: true } : {}),
      ...(mark === undefined ? {} : { cache_control: toCacheControl(mark) }),
    }
  })
}

function decodeAssistant(blocks: readonly JsonObject[], parts: ContentPart[]): Message {
  const reasoning = blocks.map(block => toObject(block.reasoningContent)).filter(each => each !== undefined)
  const details = reasoning.flatMap(toDetail)
  const thought = reasoning.map(each => toText(toObject(each.reasoningText)?.text) ?? '').join('')
  const calls = blocks.map(block => toObject(block.toolUse)).filter(each => each !== undefined)
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : toContent(parts),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) }),
    ...(thought === '' ? {} : { reasoning: thought }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/** What is signed has to come back; the rest is for reading. */
function toDetail(reasoning: JsonObject, index: number): ReasoningDetail[] {
  const redacted = toText(reasoning.redactedContent)
  if (redacted !== undefined) {
    const data = Buffer.from(redacted, 'base64').toString('utf8')
    return [{ type: 'reasoning.encrypted', format: FORMAT, data, index }]
  }
  const { text, signature } = toObject(reasoning.reasoningText) ?? {}
  if (typeof signature !== 'string' || signature === FOREIGN_SIGNATURE) return []
  return [{ type: 'reasoning.text', format: FORMAT, text: toText(text) ?? '', signature, index }]
}

function toToolCall({ toolUseId, name, input }: JsonObject): ToolCall {
  return {
    id: toText(toolUseId) ?? '',
    type: 'function',
    function: { name: toText(name) ?? '', arguments: toJsonText(input ?? {}) },
  }
}
