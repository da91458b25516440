import type { JsonObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { inputTokens } from '../../../usage/usage-sums.ts'

/** `usageMetadata`: the prompt includes cached tokens, candidates do not include thoughts. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage)
  const audio = usage.audioInput ?? 0
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output,
    totalTokenCount: prompt + usage.output + usage.reasoning,
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
    ...(audio === 0 ? {} : { promptTokensDetails: listKinds(prompt - audio, audio) }),
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
  }
}

function listKinds(text: number, audio: number): JsonObject[] {
  return [
    { modality: 'TEXT', tokenCount: text },
    { modality: 'AUDIO', tokenCount: audio },
  ]
}
