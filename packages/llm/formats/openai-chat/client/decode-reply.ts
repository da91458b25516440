import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toIndex, toObject, toText } from '../../../json/json-value.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { withReportedCost } from '../../../usage/reported-cost.ts'
import {
  makeToolCallId,
  readArguments,
  readContent,
  readFinishReason,
  readReasoning,
  toReplyId,
} from '../../shared/answers/decode-message.ts'
import { decodeUsage } from '../../shared/answers/decode-usage.ts'
import { ReasoningInIds } from '../../shared/reasoning/reasoning-carrier.ts'
import { readDetails } from './handed-details.ts'

type Choice = ChatReply['choices'][number]

/** A `chat.completion` object as the canonical reply, without choices that ended with an error. */
export function decodeReply(body: JsonObject, target: Target): ChatReply {
  const replyId = toReplyId(body.id)
  const choices: Choice[] = []
  const budget = new CallBudget()
  for (const [position, item] of toArray(body.choices).entries()) {
    const choice = toObject(item)
    if (choice === undefined || choice.finish_reason === 'error') continue
    // A content filter may remove the whole message.
    const message = toObject(choice.message) ?? {}
    choices.push(decodeChoice(choice, message, position, replyId, target.provider.id, budget))
  }
  return {
    choices,
    usage: withReportedCost(
      decodeUsage(body, target.provider.openai?.completionExcludesReasoning),
      body.usage,
      target,
    ),
  }
}

function decodeChoice(
  choice: JsonObject,
  message: JsonObject,
  position: number,
  replyId: string,
  providerId: string,
  budget: CallBudget,
): Choice {
  const index = toIndex(choice.index) ?? position
  const details = readDetails(message, providerId)
  const toolCalls = decodeToolCalls(message, index, replyId, details, budget)
  const decoded: ReplyMessage = { role: 'assistant', content: readContent(message) ?? null }
  if (toolCalls.length > 0) decoded.tool_calls = toolCalls
  const reasoning = readReasoning(message)
  if (reasoning !== undefined) decoded.reasoning = reasoning
  if (details.length > 0) decoded.reasoning_details = details
  const refusal = toText(message.refusal)
  if (refusal !== undefined) decoded.refusal = refusal
  const hasToolCalls = toolCalls.length > 0
  const finishReason =
    readFinishReason(choice.finish_reason, hasToolCalls) ?? (hasToolCalls ? 'tool_calls' : 'stop')
  return { index, message: decoded, finishReason }
}

function decodeToolCalls(
  message: JsonObject,
  choice: number,
  replyId: string,
  details: readonly ReasoningDetail[],
  budget: CallBudget,
): ToolCall[] {
  const calls: ToolCall[] = []
  const ids = new ReasoningInIds()
  for (const detail of details) ids.add(detail)
  const add = (id: string | undefined, fn: JsonObject | undefined): void => {
    const name = toText(fn?.name)
    if (name === undefined) return
    calls.push({
      id: ids.pack(id ?? makeToolCallId(replyId, choice, calls.length, name), budget),
      type: 'function',
      function: { name, arguments: completeArguments(fn?.arguments) },
    })
  }
  for (const item of toArray(message.tool_calls)) {
    const call = toObject(item)
    add(toText(call?.id), toObject(call?.function))
  }
  // The predecessor of `tool_calls`: one call without an id.
  if (calls.length === 0) add(undefined, toObject(message.function_call))
  return calls
}

function completeArguments(value: Json | undefined): string {
  const text = readArguments(value)
  return text === undefined || text === '' || text === 'null' ? '{}' : text
}
