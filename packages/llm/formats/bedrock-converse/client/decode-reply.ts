import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ChatReply, ReplyChoice, ReplyMessage, ReplyPart } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import { PartOrder } from '../../shared/answers/part-order.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import {
  decodeRedacted,
  isCallersTool,
  toFinishReason,
  toReasoningDetail,
  toStopSequence,
} from './decode-content.ts'
import { decodeUsage } from './decode-usage.ts'
import { JSON_TOOL } from './json-tool.ts'

/** Returns a Converse answer as the canonical reply; any other body, such as an error, has no choices. */
export function decodeReply(body: JsonObject): ChatReply {
  const usage = decodeUsage(body.usage)
  const message = toObject(toObject(body.output)?.message)
  if (message === undefined) return { choices: [], usage }
  const blocks = toObjects(message.content)
  const ofBlocks = blocks.map(toDetail)
  const details = ofBlocks.filter(detail => detail !== undefined)
  const calls = decodeToolCalls(blocks, ofBlocks)
  const answer = findAnswer(blocks)
  const content = answer ?? toText(blocks.map(toVisibleText).join(''))
  const decoded: ReplyMessage = { role: 'assistant', content: content ?? null }
  if (calls.length > 0) decoded.tool_calls = calls
  const reasoning = toText(blocks.map(toReasoningText).join(''))
  if (reasoning !== undefined) decoded.reasoning = reasoning
  if (details.length > 0) decoded.reasoning_details = details
  const finishReason = toFinishReason(body.stopReason, calls.length > 0)
  if (finishReason === 'broken') return { choices: [], usage }
  const parts = answer === undefined ? findOrder(blocks, ofBlocks) : undefined
  const choice: ReplyChoice = {
    index: 0,
    message: decoded,
    finishReason,
    ...toStopSequence(body.stopReason),
    ...(parts === undefined ? {} : { parts }),
  }
  return { choices: [choice], usage }
}

/** The reasoning of each block of an answer. */
type BlockDetails = readonly (ReasoningDetail | undefined)[]

/** The blocks in their order; undefined: it is the usual one. */
function findOrder(blocks: readonly JsonObject[], details: BlockDetails): readonly ReplyPart[] | undefined {
  const order = new PartOrder()
  let calls = 0
  for (const [index, block] of blocks.entries()) {
    order.addReasoning(toReasoningText(block), details[index])
    order.addText(toVisibleText(block))
    if (findCall(block) !== undefined) order.addCall(calls++)
  }
  return order.parts
}

/** Returns the first answer in JSON; see JSON_TOOL. A model may call the tool several times, and say something besides. */
function findAnswer(blocks: readonly JsonObject[]): string | undefined {
  const call = blocks.map(block => toObject(block.toolUse)).find(use => use?.name === JSON_TOOL)
  return call === undefined ? undefined : toJsonText(call.input ?? {})
}

function toVisibleText(block: JsonObject): string {
  const text = toText(block.text) ?? ''
  if (block.citationsContent === undefined) return text
  const cited = toArray(toObject(block.citationsContent)?.content)
  return text + cited.map(part => toText(toObject(part)?.text) ?? '').join('')
}

function toReasoningText(block: JsonObject): string {
  return toText(toObject(toObject(block.reasoningContent)?.reasoningText)?.text) ?? ''
}

function toDetail(block: JsonObject, index: number): ReasoningDetail | undefined {
  const content = toObject(block.reasoningContent)
  if (content === undefined) return undefined
  return toReasoningDetail({
    text: toReasoningText(block),
    signature: toText(toObject(content.reasoningText)?.signature) ?? '',
    redacted: decodeRedacted(content.redactedContent),
    index,
  })
}

/** Packs the reasoning before each call into its id, so that it comes back with the result. */
function decodeToolCalls(blocks: readonly JsonObject[], details: BlockDetails): ToolCall[] {
  const calls: ToolCall[] = []
  const budget = new CallBudget()
  let pending: ReasoningDetail[] = []
  for (const [index, block] of blocks.entries()) {
    const detail = details[index]
    if (detail !== undefined) pending.push(detail)
    const call = findCall(block)
    if (call === undefined) continue
    calls.push({
      id: packToolCallId(toText(call.use.toolUseId) ?? `call_${calls.length}`, budget.take(pending)),
      type: 'function',
      function: { name: call.name, arguments: toArgumentsText(call.use.input ?? {}) },
    })
    pending = []
  }
  return calls
}

/** undefined: the block is no call of one of the caller's tools, or has no name, so that it cannot be carried out. */
function findCall(block: JsonObject): { readonly use: JsonObject; readonly name: string } | undefined {
  const use = toObject(block.toolUse)
  const name = toText(use?.name)
  if (use === undefined || name === undefined || !isCallersTool(use) || name === JSON_TOOL) return undefined
  return { use, name }
}
