import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { Usage } from '../../../usage/usage.ts'
import { inputTokens, outputTokens } from '../../../usage/usage-sums.ts'

/** What plain replies and streams have in common. */

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  content_filter: 'ERROR_TOXIC',
}

export function toFinishReason(reason: FinishReason): string {
  return FINISH_REASONS[reason]
}

/** Usage by this format's arithmetic: input includes what was cached, output includes thinking. */
export function encodeUsage(usage: Usage): JsonObject {
  const counted = { input_tokens: inputTokens(usage), output_tokens: outputTokens(usage) }
  const thought = usage.reasoning > 0 ? { reasoning_tokens: usage.reasoning } : {}
  return {
    billed_units: counted,
    tokens: { ...counted, ...thought },
    cached_tokens: usage.cacheRead,
  }
}
