import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, ReplyEnvelope, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import { encodeUsage, toFinishReason } from './encode-parts.ts'

/** The canonical reply as an answer of `/v2/chat`. It has one answer: others are left out. */
export function encodeReply(reply: ChatReply, { id }: ReplyEnvelope): JsonObject {
  const [choice] = reply.choices
  return {
    id,
    finish_reason: toFinishReason(choice?.finishReason ?? 'stop'),
    message: encodeMessage(choice?.message ?? { role: 'assistant', content: null }),
    ...(reply.usage === undefined ? {} : { usage: encodeUsage(reply.usage) }),
  }
}

function encodeMessage({ content, refusal, reasoning, tool_calls: calls = [] }: ReplyMessage): JsonObject {
  const parts: JsonObject[] = []
  if (reasoning !== undefined && reasoning !== '') parts.push({ type: 'thinking', thinking: reasoning })
  const text = content ?? refusal
  if (text !== undefined && text !== '') parts.push({ type: 'text', text })
  return {
    role: 'assistant',
    ...(parts.length > 0 || calls.length === 0 ? { content: parts } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(encodeCall) } : {}),
  }
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: text } }
}
