import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { countOrZero, findCount } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'
import { inputTokens, outputTokens } from '../../../usage/usage-sums.ts'

/**
 * Usage in disjoint buckets from a reply or a chunk; undefined where there is none to use. What the counters include
 * differs by provider: the total decides where it is given, `completionExcludesReasoning` elsewhere.
 */
export function decodeUsage(body: JsonObject, completionExcludesReasoning = false): Usage | undefined {
  const usage = toObject(body.usage) ?? toObject(toObject(body.x_groq)?.usage)
  if (usage === undefined) return undefined
  const total = findCount(usage.total_tokens)
  const givenPrompt = findCount(usage.prompt_tokens)
  const givenCompletion = findCount(usage.completion_tokens)
  // One that is missing is what the others leave; two cannot be guessed.
  const prompt = givenPrompt ?? difference(total, givenCompletion)
  const completion = givenCompletion ?? difference(total, prompt)
  if (prompt === undefined || completion === undefined || prompt + completion === 0) return undefined

  const promptDetails = toObject(usage.prompt_tokens_details)
  const reasoning = largest(
    toObject(usage.completion_tokens_details)?.reasoning_tokens,
    usage.reasoning_tokens,
  )
  const isApart = isReasoningApart(prompt, completion, reasoning, total, completionExcludesReasoning)
  const within = Math.min(reasoning, completion)
  const counted = prompt + completion + (isApart ? reasoning : 0)
  const rest = Math.max(0, (total ?? counted) - counted)

  const cached = largest(promptDetails?.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens)
  const written = largest(promptDetails?.cache_write_tokens)
  const audio = largest(promptDetails?.audio_tokens, usage.audio_tokens)
  // What only the total includes is input where a detail has the same count, otherwise it is reasoning.
  const isInput = rest > 0 && [cached + written, audio].includes(rest)
  const input = isInput ? prompt + rest : prompt
  const cacheRead = Math.min(input, cached)
  const cacheWrite = Math.min(input - cacheRead, written)
  const uncachedInput = input - cacheRead - cacheWrite
  const audioInput = Math.min(uncachedInput, audio)
  return {
    uncachedInput,
    ...(audioInput === 0 ? {} : { audioInput }),
    cacheRead,
    cacheWrite,
    output: isApart ? completion : completion - within,
    reasoning: (isApart ? reasoning : within) + (isInput ? 0 : rest),
    ...readTier(body.service_tier),
  }
}

/** Returns whether a provider's usage counts as OpenAI does: the prompt includes the cache, the completion reasoning. */
export function hasOpenAiArithmetic({ usage: given }: JsonObject, usage: Usage): boolean {
  const reported = toObject(given)
  const [input, output] = [inputTokens(usage), outputTokens(usage)]
  return (
    reported?.prompt_tokens === input &&
    reported.completion_tokens === output &&
    reported.total_tokens === input + output
  )
}

/** The tier that an answer says it was served in, where it has a price of its own. */
export function readTier(tier: Json | undefined): Pick<Usage, 'serviceTier'> {
  return tier === 'flex' || tier === 'priority' ? { serviceTier: tier } : {}
}

function isReasoningApart(
  prompt: number,
  completion: number,
  reasoning: number,
  total: number | undefined,
  byDefault: boolean,
): boolean {
  // More than the whole cannot be within it (Gemini models through a gateway); one more is a miscount.
  if (reasoning > completion + 1) return true
  if (total === prompt + completion + reasoning) return true
  if (total === prompt + completion) return false
  return byDefault
}

function largest(...values: readonly (Json | undefined)[]): number {
  return Math.max(0, ...values.map(value => countOrZero(value)))
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}
