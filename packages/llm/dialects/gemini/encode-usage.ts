import type { JsonObject, Usage } from '../../spec.ts'
import { inputTokens } from '../../usage-sums.ts'

/** `usageMetadata` by this format's arithmetic: what was cached is part of the prompt, thoughts are no candidates. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage)
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output,
    totalTokenCount: prompt + usage.output + usage.reasoning,
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
  }
}
