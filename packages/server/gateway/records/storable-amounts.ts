/** Larger counts are a provider's mistake. The database columns would reject them, and the record with them. */
const MAX_COUNTED = 2 ** 31 - 1

export function toStorableCount(tokens: number): number {
  return Math.min(tokens, MAX_COUNTED)
}

/**
 * Returns an amount that every column, counter and reader holds exactly: at most 2^53 - 1, in nano-dollars 9 million dollars.
 * null stays unknown.
 */
export function toStorableAmount(amount: number | null): number | null {
  return amount === null ? null : Math.min(amount, Number.MAX_SAFE_INTEGER)
}
