const HOUR_MS = 3_600_000
const FIRST_RETRY_MS = 300_000
const MAX_DELAY_MS = 24 * HOUR_MS

/**
 * Returns in how many milliseconds a provider's list of models is asked for again: an hour after a result, and after
 * `failures` requests in a row without one 5 minutes, doubled for each further failure, up to a day.
 */
export function refreshDelayMs(failures: number): number {
  if (failures === 0) return HOUR_MS
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_DELAY_MS)
}
