import type { ReplyChoice, ReplyMessage, ReplyPart } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { listWholeCalls } from '../tools/call-collector.ts'

/** A part of an answer for a format of blocks. `detail`: present if the block has a signature of the format's own. */
export type OrderedPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly detail: ReasoningDetail | undefined }
  | { readonly type: 'call'; readonly call: ToolCall }

/**
 * Returns the parts of an answer, none of them empty, in the provider's order. Calls that were cut are left out. `isOwn`: the format
 * shows the detail as it is, so that it can come back; it also has the text of that reasoning.
 */
export function listOrderedParts(
  { message, finishReason, parts }: ReplyChoice,
  isOwn: (detail: ReasoningDetail) => boolean,
): readonly OrderedPart[] {
  const calls = message.tool_calls ?? []
  const whole = new Set(listWholeCalls(calls, finishReason))
  return (parts === undefined ? toUsualOrder(message, isOwn) : withRefusal(parts, message)).flatMap(
    (part): OrderedPart[] => {
      if (part.type === 'text') return [part]
      if (part.type === 'call') {
        const call = calls[part.call]
        return call !== undefined && whole.has(call) ? [{ type: 'call', call }] : []
      }
      const detail = part.detail !== undefined && isOwn(part.detail) ? part.detail : undefined
      return detail === undefined && part.text === '' ? [] : [{ type: 'reasoning', text: part.text, detail }]
    },
  )
}

/** A refusal stands in the place of a text, behind what came before. */
function withRefusal(parts: readonly ReplyPart[], { content, refusal }: ReplyMessage): readonly ReplyPart[] {
  return content === null && refusal !== undefined ? [...parts, { type: 'text', text: refusal }] : parts
}

function toUsualOrder(message: ReplyMessage, isOwn: (detail: ReasoningDetail) => boolean): ReplyPart[] {
  const { reasoning = '', reasoning_details: details = [], refusal, tool_calls: calls = [] } = message
  const own = details.filter(isOwn)
  const parts: ReplyPart[] = own.map(detail => ({ type: 'reasoning', text: '', detail }))
  if (own.length === 0) parts.push({ type: 'reasoning', text: reasoning })
  const text = message.content ?? refusal ?? ''
  if (text !== '') parts.push({ type: 'text', text })
  for (const call of calls.keys()) parts.push({ type: 'call', call })
  return parts
}
