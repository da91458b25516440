import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { packToolCallId } from '../../shared/reasoning-carrier.ts'
import { isCallersTool, readRedacted, readStopReason, toReasoningDetail } from './decode-content.ts'
import { decodeUsage } from './decode-usage.ts'
import { JSON_TOOL } from './json-tool.ts'

/** A Converse answer as the canonical reply. */
export function decodeReply(body: JsonObject): ChatReply {
  const usage = decodeUsage(body.usage)
  const message = toObject(toObject(body.output)?.message)
  if (message === undefined) return { choices: [], usage }
  const blocks = toObjects(message.content)
  const details = blocks.map(readDetail).filter(detail => detail !== undefined)
  const calls = decodeToolCalls(blocks)
  const decoded: ReplyMessage = { role: 'assistant', content: toText(blocks.map(readText).join('')) ?? null }
  if (calls.length > 0) decoded.tool_calls = calls
  const reasoning = toText(blocks.map(readReasoning).join(''))
  if (reasoning !== undefined) decoded.reasoning = reasoning
  if (details.length > 0) decoded.reasoning_details = details
  const finishReason = readStopReason(body.stopReason, calls.length > 0)
  if (finishReason === 'broken') return { choices: [], usage }
  return { choices: [{ index: 0, message: decoded, finishReason }], usage }
}

/** The visible text; an answer that was asked for as JSON may come as a call of our own tool. */
function readText(block: JsonObject): string {
  const toolUse = toObject(block.toolUse)
  if (toolUse?.name === JSON_TOOL) return toJsonText(toolUse.input ?? {})
  const cited = toArray(toObject(block.citationsContent)?.content)
  return [block, ...cited.map(toObject)].map(part => toText(part?.text) ?? '').join('')
}

function readReasoning(block: JsonObject): string {
  return toText(toObject(toObject(block.reasoningContent)?.reasoningText)?.text) ?? ''
}

function readDetail(block: JsonObject): ReasoningDetail | undefined {
  const content = toObject(block.reasoningContent)
  return toReasoningDetail({
    text: readReasoning(block),
    signature: toText(toObject(content?.reasoningText)?.signature) ?? '',
    redacted: readRedacted(content?.redactedContent),
  })
}

/** The reasoning before a call travels in its id, each piece once. */
function decodeToolCalls(blocks: readonly JsonObject[]): ToolCall[] {
  const calls: ToolCall[] = []
  let pending: ReasoningDetail[] = []
  for (const block of blocks) {
    const detail = readDetail(block)
    if (detail !== undefined) pending.push(detail)
    const use = toObject(block.toolUse)
    const name = toText(use?.name)
    // Nobody can carry out a call without a name.
    if (use === undefined || name === undefined || !isCallersTool(use) || name === JSON_TOOL) continue
    calls.push({
      id: packToolCallId(toText(use.toolUseId) ?? `call_${calls.length}`, pending),
      type: 'function',
      function: { name, arguments: toJsonText(use.input ?? {}) },
    })
    pending = []
  }
  return calls
}
