import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyChoice, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { listWholeCalls } from '../../shared/call-collector.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { parseInnerJson } from '../../shared/parse-inner-json.ts'
import { isShown } from '../../shared/sandbox-reasoning.ts'
import { encodeUsage } from './encode-usage.ts'

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
}

export function toStopReason(reason: FinishReason): string {
  return STOP_REASONS[reason]
}

/** Returns the canonical reply as a Converse answer. The format has one answer, so further choices are left out. */
export function encodeReply(reply: ChatReply, latencyMs: number): JsonObject {
  const [choice] = reply.choices
  return {
    output: {
      message: { role: 'assistant', content: choice === undefined ? [] : encodeContent(choice) },
    },
    stopReason: toStopReason(choice?.finishReason ?? 'stop'),
    ...(reply.usage === undefined ? {} : { usage: encodeUsage(reply.usage) }),
    metrics: { latencyMs },
  }
}

function encodeContent({ message, finishReason }: ReplyChoice): JsonObject[] {
  const blocks = encodeReasoning(message)
  const text = message.content ?? message.refusal
  if (text !== undefined && text !== '') blocks.push({ text })
  for (const call of listWholeCalls(message.tool_calls ?? [], finishReason)) blocks.push(encodeCall(call))
  return blocks
}

/** Reasoning that Claude signed keeps its signature; reasoning of other models gets the gateway's mark in its place. */
function encodeReasoning({ reasoning, reasoning_details: details = [] }: ReplyMessage): JsonObject[] {
  const own = details.flatMap(toBlock)
  if (own.length > 0 || reasoning === undefined || reasoning === '') return own
  const reasoningText = { text: reasoning, signature: FOREIGN_SIGNATURE }
  return [{ reasoningContent: { reasoningText } }]
}

function toBlock(detail: ReasoningDetail): JsonObject[] {
  const { type, format, text, signature, data } = detail
  if (format !== FORMAT || !isShown(detail)) return []
  if (type === 'reasoning.encrypted' && data !== undefined) {
    return [{ reasoningContent: { redactedContent: encodeRedacted(data) } }]
  }
  return signature === undefined
    ? []
    : [{ reasoningContent: { reasoningText: { text: text ?? '', signature } } }]
}

/** Converse has bytes here, which are base64 in JSON, though Claude's data is a text already. */
export function encodeRedacted(data: string): string {
  return Buffer.from(data).toString('base64')
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall): JsonObject {
  return { toolUse: { toolUseId: id, name, input: parseInput(text) } }
}

function parseInput(text: string): JsonObject {
  try {
    return toObject(parseInnerJson(text)) ?? {}
  } catch {
    return {}
  }
}
