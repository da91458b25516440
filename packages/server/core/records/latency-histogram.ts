/**
 * Latencies in usage rollups: a count for each of 48 slots. Slot 0 counts requests below 10 ms, slot n those from
 * 10 × 1.27^(n-1) ms up to the next slot's start, the last one also everything above (596 s). A quantile is the middle of
 * its slot: at most 13 % off the true value between 10 ms and 10 min. The schema's function `latency_slot` uses the same
 * slots.
 */
export const LATENCY_SLOTS = 48

const FIRST_MS = 10
const GROWTH = 1.27

/** Returns the slot that counts a request of this duration. The database stores durations as `real`, in single precision. */
export function toLatencySlot(ms: number): number {
  const stored = Math.fround(ms)
  if (stored < FIRST_MS) return 0
  return Math.min(LATENCY_SLOTS - 1, 1 + Math.floor(Math.log(stored / FIRST_MS) / Math.log(GROWTH)))
}

/** Returns the latency in milliseconds at a quantile from 0 to 1; null if nothing was counted. */
export function toLatencyQuantile(counts: readonly number[], quantile: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = Math.max(1, Math.ceil(total * quantile))
  let seen = 0
  const slot = counts.findIndex(count => {
    seen += count
    return seen >= rank
  })
  return Math.round(middleOf(slot) * 10) / 10
}

/** Returns the geometric middle of a slot, which bounds the relative error in both directions. */
function middleOf(slot: number): number {
  if (slot === 0) return FIRST_MS / 2
  return FIRST_MS * GROWTH ** (slot - 0.5)
}
