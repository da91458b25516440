const NANO_PER_USD = 1_000_000_000

/** Whole nano-dollars as the JSON number that callers see; null stays unknown. */
export function toUsd(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / NANO_PER_USD
}
