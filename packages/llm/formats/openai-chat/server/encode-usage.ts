import { type Json, type JsonObject, toObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../usage/usage-sums.ts'

/** Usage by OpenAI's arithmetic: the prompt includes what was cached, the completion includes reasoning. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage)
  const completion = outputTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: cacheWriteTokens(usage),
      ...(usage.audioInput === undefined ? {} : { audio_tokens: usage.audioInput }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

/** Returns a provider's usage with OpenAI's arithmetic. What else the provider reports stays. */
export function correctUsage(given: Json | undefined, usage: Usage): JsonObject {
  const reported = toObject(given) ?? {}
  const ours = encodeUsage(usage)
  for (const name of ['prompt_tokens_details', 'completion_tokens_details'])
    ours[name] = { ...toObject(reported[name]), ...toObject(ours[name]) }
  return { ...reported, ...ours }
}
