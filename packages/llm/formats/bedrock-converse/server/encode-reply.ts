import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyChoice } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { listOrderedParts } from '../../shared/answers/ordered-parts.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { isShownReasoning } from '../../shared/reasoning/sandbox-reasoning.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'
import { encodeUsage } from './encode-usage.ts'

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
}

/** `sequence`: see ReplyChoice.stopSequence. */
export function toStopReason(reason: FinishReason, sequence: string | undefined): string {
  return reason === 'stop' && sequence !== undefined ? 'stop_sequence' : STOP_REASONS[reason]
}

/** Returns the canonical reply as a Converse answer. The format has one answer, so further choices are left out. */
export function encodeReply(reply: ChatReply, latencyMs: number): JsonObject {
  const [choice] = reply.choices
  return {
    output: {
      message: { role: 'assistant', content: choice === undefined ? [] : encodeContent(choice) },
    },
    stopReason: toStopReason(choice?.finishReason ?? 'stop', choice?.stopSequence),
    ...(reply.usage === undefined ? {} : { usage: encodeUsage(reply.usage) }),
    metrics: { latencyMs },
  }
}

function encodeContent(choice: ReplyChoice): JsonObject[] {
  return listOrderedParts(choice, detail => toBlock(detail) !== undefined).map(part => {
    if (part.type === 'text') return { text: part.text }
    return part.type === 'call' ? encodeCall(part.call) : encodeReasoning(part.text, part.detail)
  })
}

/** Reasoning that Claude signed keeps its signature; reasoning of other models gets the gateway's mark in its place. */
function encodeReasoning(text: string, detail: ReasoningDetail | undefined): JsonObject {
  const own = detail === undefined ? undefined : toBlock(detail)
  return own ?? { reasoningContent: { reasoningText: { text, signature: FOREIGN_SIGNATURE } } }
}

/** undefined: the detail is not Claude's, or has no signature. */
function toBlock(detail: ReasoningDetail): JsonObject | undefined {
  const { type, format, text, signature, data } = detail
  if (format !== FORMAT || !isShownReasoning(detail)) return undefined
  if (type === 'reasoning.encrypted' && data !== undefined) {
    return { reasoningContent: { redactedContent: encodeRedacted(data) } }
  }
  return signature === undefined
    ? undefined
    : { reasoningContent: { reasoningText: { text: text ?? '', signature } } }
}

/** Converse has bytes here, which are base64 in JSON, though Claude's data is a text already. */
export function encodeRedacted(data: string): string {
  return Buffer.from(data).toString('base64')
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall): JsonObject {
  return { toolUse: { toolUseId: id, name, input: toArgumentsOrEmpty(text) } }
}
