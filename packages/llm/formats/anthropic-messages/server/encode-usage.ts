import type { JsonObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { cacheWriteTokens, outputTokens } from '../../../usage/usage-sums.ts'

/** Returns usage in this format: input excludes cached tokens, output includes thinking. */
export function encodeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.uncachedInput,
    cache_creation_input_tokens: cacheWriteTokens(usage),
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite,
      ephemeral_1h_input_tokens: usage.cacheWrite1h ?? 0,
    },
    output_tokens: outputTokens(usage),
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}
