import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, ReplyEnvelope, ReplyMessage } from '../../../reply/chat-reply.ts'
import { markDirect } from '../../shared/reasoning-carrier.ts'
import { encodeUsage } from './encode-usage.ts'

/** The canonical reply as a `chat.completion` object that OpenAI's published schema accepts strictly. */
export function encodeReply(reply: ChatReply, { id, created, model }: ReplyEnvelope): JsonObject {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: reply.choices.map(({ index, message, finishReason }) => ({
      index,
      message: encodeMessage(message),
      logprobs: null,
      finish_reason: finishReason,
    })),
    ...(reply.usage === undefined ? {} : { usage: encodeUsage(reply.usage) }),
  }
}

/** Reasoning has the name that most clients read. OpenAI's schema requires `refusal`. */
function encodeMessage(message: ReplyMessage): JsonObject {
  return {
    role: 'assistant',
    content: message.content,
    refusal: message.refusal ?? null,
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
    ...(message.reasoning_details === undefined
      ? {}
      : { reasoning_details: markDirect(message.reasoning_details) as unknown as JsonObject[] }),
    ...(message.tool_calls === undefined
      ? {}
      : { tool_calls: message.tool_calls as unknown as JsonObject[] }),
  }
}
