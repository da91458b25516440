import type { Json } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { countOrZero } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'

/**
 * Returns usage in disjoint counts; undefined: there is none. `inputTokens` excludes tokens read from or written to the
 * cache, whose counts come under one of two names. Reasoning is not counted apart from the other output; what only the total
 * includes is reasoning.
 */
export function decodeUsage(value: Json | undefined): Usage | undefined {
  const usage = toObject(value)
  if (usage === undefined) return undefined
  const uncachedInput = countOrZero(usage.inputTokens)
  const output = countOrZero(usage.outputTokens)
  const cacheRead = countOrZero(usage.cacheReadInputTokens ?? usage.cacheReadInputTokenCount)
  const written = countOrZero(usage.cacheWriteInputTokens ?? usage.cacheWriteInputTokenCount)
  const counted = uncachedInput + output + cacheRead + written
  if (counted === 0) return undefined
  const hourly = toObjects(usage.cacheDetails)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + countOrZero(inputTokens), 0)
  const cacheWrite1h = Math.min(hourly, written)
  return {
    uncachedInput,
    cacheRead,
    cacheWrite: written - cacheWrite1h,
    ...(cacheWrite1h > 0 ? { cacheWrite1h } : {}),
    output,
    reasoning: Math.max(0, countOrZero(usage.totalTokens) - counted),
  }
}
