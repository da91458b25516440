import type { Usage } from './usage.ts'

/** What a provider's "input" or "prompt" includes, cached or not. */
export function inputTokens(usage: Usage): number {
  return usage.uncachedInput + usage.cacheRead + cacheWriteTokens(usage)
}

/** Everything that was written to the cache, for however long it is kept. */
export function cacheWriteTokens(usage: Usage): number {
  return usage.cacheWrite + (usage.cacheWrite1h ?? 0)
}

/** What was generated, reasoning included. */
export function outputTokens(usage: Usage): number {
  return usage.output + usage.reasoning
}
