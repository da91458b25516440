import type { JsonObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../usage/usage-sums.ts'

/** Returns usage in this format: input excludes cached tokens, output includes reasoning, the total has both. */
export function encodeUsage(usage: Usage): JsonObject {
  const written = cacheWriteTokens(usage)
  const hourly = usage.cacheWrite1h ?? 0
  return {
    inputTokens: usage.uncachedInput,
    outputTokens: outputTokens(usage),
    totalTokens: inputTokens(usage) + outputTokens(usage),
    cacheReadInputTokens: usage.cacheRead,
    cacheWriteInputTokens: written,
    ...(written === 0 ? {} : { cacheDetails: listWrites(usage.cacheWrite, hourly) }),
  }
}

function listWrites(short: number, hourly: number): JsonObject[] {
  return [
    { ttl: '5m', inputTokens: short },
    { ttl: '1h', inputTokens: hourly },
  ].filter(({ inputTokens: tokens }) => tokens > 0)
}
