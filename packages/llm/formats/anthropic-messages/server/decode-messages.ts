import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObjects, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { encodeInput, FORMAT } from '../../shared/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { decodeParts, toContent } from './decode-content.ts'

/** The `system` and `messages` of a caller of this format as canonical messages. */
export function decodeMessages(system: Json | undefined, messages: Json | undefined): Message[] {
  const decoded: Message[] = []
  const instructions = decodeParts(system)
  if (instructions.length > 0) decoded.push({ role: 'system', content: toContent(instructions, '\n\n') })
  for (const message of toObjects(messages)) {
    if (message.role === 'assistant') decoded.push(decodeAssistant(message))
    else if (message.role === 'system') {
      decoded.push({ role: 'system', content: toContent(decodeParts(message.content), '\n\n') })
    } else decoded.push(...decodeUser(message))
  }
  return decoded
}

/** Results of calls are messages of their own, and go before what else the user says. */
function decodeUser({ content }: JsonObject): Message[] {
  const results = toObjects(content).filter(({ type }) => type === 'tool_result')
  const parts = decodeParts(content)
  const said: Message[] =
    parts.length > 0 || results.length === 0 ? [{ role: 'user', content: toContent(parts, '\n') }] : []
  return [...results.map(decodeResult), ...said]
}

function decodeResult({ tool_use_id: id, content, is_error: isError, cache_control }: JsonObject): Message {
  return {
    role: 'tool',
    tool_call_id: toText(id) ?? '',
    content: toContent(decodeParts(content), '\n'),
    ...(isError === true ? { is_error: true } : {}),
    ...(cache_control === undefined ? {} : { cache_control }),
  }
}

function decodeAssistant({ content }: JsonObject): Message {
  const blocks = toObjects(content)
  const details = blocks.flatMap(toDetail)
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(toToolCall)
  const parts = decodeParts(content)
  const thought = blocks
    .filter(({ type }) => type === 'thinking')
    .map(({ thinking }) => toText(thinking) ?? '')
    .join('')
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : toContent(parts, ''),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(thought === '' ? {} : { reasoning: thought }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function toDetail(block: JsonObject, index: number): ReasoningDetail[] {
  const { type, data, signature, thinking } = block
  if (type === 'redacted_thinking' && typeof data === 'string') {
    return [{ type: 'reasoning.encrypted', format: FORMAT, data, index }]
  }
  if (type !== 'thinking' || typeof signature !== 'string' || signature === FOREIGN_SIGNATURE) return []
  return [{ type: 'reasoning.text', format: FORMAT, text: toText(thinking) ?? '', signature, index }]
}

function toToolCall({ id, name, input }: JsonObject): ToolCall {
  return {
    id: toText(id) ?? '',
    type: 'function',
    function: { name: toText(name) ?? '', arguments: encodeInput(input) },
  }
}
