import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { readTier } from '../../shared/decode-usage.ts'

/** No request has more tokens: a larger count is a mistake of the provider. */
const MAX_TOKENS = 1_000_000_000

/**
 * The usage of a `response` object in disjoint buckets; undefined: it has no usable counts. All providers of the format
 * count cached tokens as input and reasoning as output. What only the total includes is reasoning, and so is what its own count
 * has above the output.
 */
export function decodeUsage(response: JsonObject): Usage | undefined {
  const usage = toObject(response.usage)
  if (usage === undefined) return undefined
  const total = toCount(usage.total_tokens)
  const givenInput = toCount(usage.input_tokens)
  const givenOutput = toCount(usage.output_tokens)
  const input = givenInput ?? difference(total, givenOutput)
  const output = givenOutput ?? difference(total, input)
  if (input === undefined || output === undefined || input + output === 0) return undefined
  const details = toObject(usage.input_tokens_details)
  const cacheRead = Math.min(input, toCount(details?.cached_tokens) ?? 0)
  const cacheWrite = Math.min(input - cacheRead, toCount(details?.cache_write_tokens) ?? 0)
  const counted = toCount(toObject(usage.output_tokens_details)?.reasoning_tokens) ?? 0
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

/** A count of tokens as a whole number, rounded up; undefined: the value is not a count. */
function toCount(value: Json | undefined): number | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value > MAX_TOKENS) return undefined
  return Math.ceil(value)
}
