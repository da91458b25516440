import type { ServiceTier } from '../provider/prices.ts'

/**
 * Tokens in disjoint buckets: they add up, so each has a price of its own.
 * input = uncachedInput + cacheRead + cacheWrite + cacheWrite1h; output = output + reasoning.
 */
export interface Usage {
  readonly uncachedInput: number
  /** The audio tokens in `uncachedInput`. Some models have another price for them. */
  readonly audioInput?: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Written to be kept for an hour, where a provider prices that apart; not part of `cacheWrite`. */
  readonly cacheWrite1h?: number
  /** Visible output without reasoning. */
  readonly output: number
  readonly reasoning: number
  /** The tier that the answer reports. Absent: it reports none, so the usual tier is assumed. */
  readonly serviceTier?: ServiceTier
  /** Tools that the provider ran, besides their tokens. Absent: none. */
  readonly hosted?: HostedUse
  /** What the provider says that the request costs; whole nano-dollars. It takes precedence over the catalogue's prices. */
  readonly reportedCostNanoUsd?: number
}

export const ZERO_USAGE: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Uses of tools that a provider ran, and what they cost in whole nano-dollars. */
export interface HostedUse {
  readonly uses: number
  readonly nanoUsd: number
}
