import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'

/** No request has more tokens: a larger count is a mistake of the provider. */
const MAX_TOKENS = 1_000_000_000

/**
 * `usageMetadata` in disjoint buckets; undefined: it has no usable counts. The total is prompt + candidates + thoughts +
 * tool use, and cached tokens are part of the prompt. What only the total includes is thoughts.
 */
export function decodeUsage(body: JsonObject): Usage | undefined {
  const usage = toObject(body.usageMetadata)
  if (usage === undefined) return undefined
  const prompt = toCount(usage.promptTokenCount)
  const total = toCount(usage.totalTokenCount)
  if (prompt === undefined && total === undefined) return undefined
  const thoughts = toCount(usage.thoughtsTokenCount) ?? 0
  const toolUse = toCount(usage.toolUsePromptTokenCount) ?? 0
  const given = toCount(usage.candidatesTokenCount)
  const input = prompt ?? Math.max(0, (total ?? 0) - (given ?? 0) - thoughts - toolUse)
  // Without a count of the answer, the total minus the rest is used.
  const output = given ?? Math.max(0, (total ?? 0) - input - thoughts - toolUse)
  const reasoning = thoughts + Math.max(0, (total ?? 0) - input - output - thoughts - toolUse)
  const cacheRead = Math.min(input, toCount(usage.cachedContentTokenCount) ?? 0)
  const uncachedInput = input - cacheRead + toolUse
  const audio = countAudio(usage.promptTokensDetails) - countAudio(usage.cacheTokensDetails)
  const audioInput = Math.min(uncachedInput, Math.max(0, audio))
  if (audioInput === 0) return { uncachedInput, cacheRead, cacheWrite: 0, output, reasoning }
  return { uncachedInput, audioInput, cacheRead, cacheWrite: 0, output, reasoning }
}

/** The audio tokens of a count. */
function countAudio(details: Json | undefined): number {
  let tokens = 0
  for (const { modality, tokenCount } of toObjects(details)) {
    if (modality === 'AUDIO') tokens += toCount(tokenCount) ?? 0
  }
  return tokens
}

/** A count of tokens as a whole number, rounded up; undefined: the value is not a count. */
function toCount(value: Json | undefined): number | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value > MAX_TOKENS) return undefined
  return Math.ceil(value)
}
