import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { countOrZero, findCount } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'

/**
 * `usageMetadata` in disjoint buckets; undefined: it has no usable counts. The total is prompt + candidates + thoughts +
 * tool use, and cached tokens are part of the prompt. What only the total includes is thoughts.
 */
export function decodeUsage(body: JsonObject): Usage | undefined {
  const usage = toObject(body.usageMetadata)
  if (usage === undefined) return undefined
  const prompt = findCount(usage.promptTokenCount)
  const total = findCount(usage.totalTokenCount)
  if (prompt === undefined && total === undefined) return undefined
  const thoughts = countOrZero(usage.thoughtsTokenCount)
  const toolUse = countOrZero(usage.toolUsePromptTokenCount)
  const given = findCount(usage.candidatesTokenCount)
  const input = prompt ?? Math.max(0, (total ?? 0) - (given ?? 0) - thoughts - toolUse)
  // Without a count of the answer, the total minus the rest is used.
  const output = given ?? Math.max(0, (total ?? 0) - input - thoughts - toolUse)
  const reasoning = thoughts + Math.max(0, (total ?? 0) - input - output - thoughts - toolUse)
  const cacheRead = Math.min(input, countOrZero(usage.cachedContentTokenCount))
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
    if (modality === 'AUDIO') tokens += countOrZero(tokenCount)
  }
  return tokens
}
