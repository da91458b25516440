import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyEnvelope, ReplyMessage } from '../../../reply/chat-reply.ts'
import { markDirect } from '../../shared/reasoning/reasoning-carrier.ts'
import { encodeUsage } from './encode-usage.ts'

/** The canonical reply as a `chat.completion` object that OpenAI's published schema accepts strictly. */
export function encodeReply(
  reply: ChatReply,
  { id, created, model }: ReplyEnvelope,
  callsFunctions = false,
): JsonObject {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: reply.choices.map(({ index, message, finishReason }) => ({
      index,
      message: encodeMessage(message, callsFunctions),
      logprobs: null,
      finish_reason: toWireFinish(finishReason, callsFunctions),
    })),
    ...(reply.usage === undefined ? {} : { usage: encodeUsage(reply.usage) }),
  }
}

/** Reasoning has the name that most clients read. OpenAI's schema requires `refusal`. */
function encodeMessage(message: ReplyMessage, callsFunctions: boolean): JsonObject {
  return {
    role: 'assistant',
    content: message.content,
    refusal: message.refusal ?? null,
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
    ...(message.reasoning_details === undefined
      ? {}
      : { reasoning_details: markDirect(message.reasoning_details) as unknown as JsonObject[] }),
    ...encodeCalls(message.tool_calls, callsFunctions),
  }
}

/** Callers of `functions` read one call, which has no id. */
function encodeCalls(calls: ReplyMessage['tool_calls'], callsFunctions: boolean): JsonObject {
  const [first] = calls ?? []
  if (first === undefined) return {}
  return callsFunctions
    ? { function_call: first.function as unknown as JsonObject }
    : { tool_calls: calls as unknown as JsonObject[] }
}

/** `callsFunctions`: the caller reads the name that the reason had before `tool_calls`. */
export function toWireFinish(reason: FinishReason, callsFunctions: boolean): string {
  return callsFunctions && reason === 'tool_calls' ? 'function_call' : reason
}
