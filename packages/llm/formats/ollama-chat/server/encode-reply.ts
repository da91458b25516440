import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyChoice, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Usage } from '../../../usage/usage.ts'
import { inputTokens, outputTokens } from '../../../usage/usage-sums.ts'
import { listWholeCalls } from '../../shared/tools/call-collector.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'

/** How long an answer took, in milliseconds. */
export interface ReplyTiming {
  /** The time until the first piece of the answer. */
  readonly firstMs: number
  readonly totalMs: number
}

/** The canonical reply as an answer of `/api/chat`, which has one choice: others are left out. */
export function encodeReply(reply: ChatReply, envelope: ReplyEnvelope, timing: ReplyTiming): JsonObject {
  const [choice] = reply.choices
  return {
    ...encodeHead(envelope),
    message: choice === undefined ? { role: 'assistant', content: '' } : encodeMessage(choice),
    ...encodeEnd(choice?.finishReason ?? 'stop', reply.usage, timing),
  }
}

/** The fields that every line of an answer begins with. */
export interface Head {
  readonly model: string
  readonly created_at: string
}

export function encodeHead({ model, created }: ReplyEnvelope): Head {
  return { model, created_at: new Date(created * 1000).toISOString() }
}

/** The fields that only the last line of an answer has. */
export function encodeEnd(reason: FinishReason, usage: Usage | undefined, timing: ReplyTiming): JsonObject {
  return {
    done: true,
    done_reason: reason === 'length' ? 'length' : 'stop',
    total_duration: toNanoseconds(timing.totalMs),
    load_duration: 0,
    ...(usage === undefined ? {} : { prompt_eval_count: inputTokens(usage) }),
    prompt_eval_duration: toNanoseconds(timing.firstMs),
    ...(usage === undefined ? {} : { eval_count: outputTokens(usage) }),
    // Clients divide by it: it is never 0.
    eval_duration: Math.max(1, toNanoseconds(timing.totalMs - timing.firstMs)),
  }
}

function toNanoseconds(ms: number): number {
  return Math.round(ms * 1e6)
}

function encodeMessage({ message, finishReason }: ReplyChoice): JsonObject {
  const { content, refusal, reasoning } = message
  const calls = listWholeCalls(message.tool_calls ?? [], finishReason)
  return {
    role: 'assistant',
    content: content ?? refusal ?? '',
    ...(reasoning === undefined || reasoning === '' ? {} : { thinking: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(encodeCall) }),
  }
}

export function encodeCall({ id, function: fn }: ToolCall, index: number): JsonObject {
  return {
    ...(id === '' ? {} : { id }),
    function: { index, name: fn.name, arguments: toArgumentsOrEmpty(fn.arguments) },
  }
}
