import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { countOrZero, findCount } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'
import { readTier } from '../../shared/answers/decode-usage.ts'

/**
 * The usage of a `response` object in disjoint buckets; undefined: it has no usable counts. All providers of the format
 * count cached tokens as input and reasoning as output. What only the total includes is reasoning, and so is what its own count
 * has above the output.
 */
export function decodeUsage(response: JsonObject): Usage | undefined {
  const usage = toObject(response.usage)
  if (usage === undefined) return undefined
  const total = findCount(usage.total_tokens)
  const givenInput = findCount(usage.input_tokens)
  const givenOutput = findCount(usage.output_tokens)
  const input = givenInput ?? difference(total, givenOutput)
  const output = givenOutput ?? difference(total, input)
  if (input === undefined || output === undefined || input + output === 0) return undefined
  const details = toObject(usage.input_tokens_details)
  const cacheRead = Math.min(input, countOrZero(details?.cached_tokens))
  const cacheWrite = Math.min(input - cacheRead, countOrZero(details?.cache_write_tokens))
  const counted = countOrZero(toObject(usage.output_tokens_details)?.reasoning_tokens)
  const visible = Math.max(0, output - counted)
  const rest = Math.max(0, (total ?? 0) - input - visible - counted)
  return {
    uncachedInput: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: visible,
    reasoning: counted + rest,
    ...readTier(response.service_tier),
  }
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}
