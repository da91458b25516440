import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { CallerDebts } from '../../http/fairness/caller-debts.ts'

/**
 * What all streams of one caller may bring in long chunks: 16 MiB a second after the first 16 MiB. Models send some hundred KiB a
 * second at most, images included; only a tenant's own provider sends more.
 */
const PACE_BYTES_PER_MS = (16 * 1024 * 1024) / 1_000
const pace = new CallerDebts(5_000, 1_000)

/** A shorter wait is saved up. A timer cannot be so short, and a turn without one could come in the tick that opens the stream. */
const MIN_WAIT_MS = 1

/** Counts a long chunk of a stream. Returns how long it waits, in milliseconds: not at all, or for a timer. */
export function noteChunk(owner: ShareOwner, bytes: number): number {
  const now = performance.now()
  pace.add(owner, bytes / PACE_BYTES_PER_MS, now)
  const waitMs = pace.waitMs(owner, now)
  return waitMs < MIN_WAIT_MS ? 0 : waitMs
}
