import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatReply, ReplyChoice, ReplyEnvelope, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { listWholeCalls } from '../../shared/call-collector.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { isFittingId, replaceForeign } from '../../shared/fitting-id.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { parseInnerJson } from '../../shared/parse-inner-json.ts'
import { plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { isShown } from '../../shared/sandbox-reasoning.ts'
import { toStopReason } from '../wire/stop-reason.ts'
import { encodeUsage } from './encode-usage.ts'

/** Returns the canonical reply as a `message`. The format has one answer, so further choices are left out. */
export function encodeReply(reply: ChatReply, { id, model }: ReplyEnvelope): JsonObject {
  const [choice] = reply.choices
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: choice === undefined ? [] : encodeContent(choice),
    stop_reason: toStopReason(choice?.finishReason ?? 'stop'),
    stop_sequence: null,
    usage: reply.usage === undefined ? null : encodeUsage(reply.usage),
  }
}

function encodeContent({ message, finishReason }: ReplyChoice): JsonObject[] {
  const blocks = encodeThinking(message)
  const text = message.content ?? message.refusal
  if (text !== undefined && text !== '') blocks.push({ type: 'text', text })
  for (const call of listWholeCalls(message.tool_calls ?? [], finishReason)) blocks.push(encodeCall(call))
  return blocks
}

/** Thinking that Claude signed keeps its signature; reasoning of other models gets the gateway's mark in its place. */
function encodeThinking({ reasoning, reasoning_details: details = [] }: ReplyMessage): JsonObject[] {
  const own = details.flatMap(toThinkingBlock)
  if (own.length > 0 || reasoning === undefined || reasoning === '') return own
  return [{ type: 'thinking', thinking: reasoning, signature: FOREIGN_SIGNATURE }]
}

function toThinkingBlock(detail: ReasoningDetail): JsonObject[] {
  const { type, format, text, signature, data } = detail
  if (format !== FORMAT || !isShown(detail)) return []
  if (type === 'reasoning.encrypted' && data !== undefined) return [{ type: 'redacted_thinking', data }]
  return signature === undefined ? [] : [{ type: 'thinking', thinking: text ?? '', signature }]
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall): JsonObject {
  return { type: 'tool_use', id: toFittingId(id), name, input: parseInput(text) }
}

/** Replaces characters that clients of this format refuse in ids. Reasoning packed into an id has none of them. */
export function toFittingId(id: string): string {
  if (isFittingId(id)) return id
  const plain = plainToolCallId(id)
  const carried = id.slice(plain.length)
  return isFittingId(carried) ? replaceForeign(plain) + carried : replaceForeign(id)
}

function parseInput(text: string): JsonObject {
  try {
    return toObject(parseInnerJson(text)) ?? {}
  } catch {
    return {}
  }
}
