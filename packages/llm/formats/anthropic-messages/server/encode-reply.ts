import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, ReplyChoice, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { listOrderedParts } from '../../shared/answers/ordered-parts.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { isShownReasoning } from '../../shared/reasoning/sandbox-reasoning.ts'
import { isFittingId, replaceForeign } from '../../shared/tools/fitting-id.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'
import { encodeStop } from '../wire/stop-reason.ts'
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
    ...encodeStop(choice?.finishReason ?? 'stop', choice?.stopSequence),
    usage: reply.usage === undefined ? null : encodeUsage(reply.usage),
  }
}

function encodeContent(choice: ReplyChoice): JsonObject[] {
  return listOrderedParts(choice, detail => toThinkingBlock(detail) !== undefined).map(part => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return part.type === 'call' ? encodeCall(part.call) : encodeThinking(part.text, part.detail)
  })
}

/** Thinking that Claude signed keeps its signature; reasoning of other models gets the gateway's mark in its place. */
function encodeThinking(thinking: string, detail: ReasoningDetail | undefined): JsonObject {
  const own = detail === undefined ? undefined : toThinkingBlock(detail)
  return own ?? { type: 'thinking', thinking, signature: FOREIGN_SIGNATURE }
}

/** undefined: the detail is not Claude's, or has no signature. */
function toThinkingBlock(detail: ReasoningDetail): JsonObject | undefined {
  const { type, format, text, signature, data } = detail
  if (format !== FORMAT || !isShownReasoning(detail)) return undefined
  if (type === 'reasoning.encrypted' && data !== undefined) return { type: 'redacted_thinking', data }
  return signature === undefined ? undefined : { type: 'thinking', thinking: text ?? '', signature }
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall): JsonObject {
  return { type: 'tool_use', id: toFittingId(id), name, input: toArgumentsOrEmpty(text) }
}

/** Replaces characters that clients of this format refuse in ids. Reasoning packed into an id has none of them. */
export function toFittingId(id: string): string {
  if (isFittingId(id)) return id
  const plain = plainToolCallId(id)
  const carried = id.slice(plain.length)
  return isFittingId(carried) ? replaceForeign(plain) + carried : replaceForeign(id)
}
