const NANO_PER_USD = 1_000_000_000

/** The most that a field of ours takes, in USD: up to here every nano-dollar is told apart from its neighbours. */
export const MAX_USD = 1_000_000

/**
 * USD as sent, 0 to MAX_USD, in whole nano-dollars. The product of a double is off by less than a quarter of a
 * nano-dollar in that range, so rounding gives the decimal that was written: 0.29 is 290,000,000.
 */
export function toNanoUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD)
}
