import type { Ledger, ThresholdCrossing, Verdict } from '../ledger.ts'
import type { SeedSource } from '../seed-source.ts'
import { openSeeds } from './make-meter.ts'

export interface SuiteLedger {
  readonly ledger: Ledger
  close(): Promise<void>
}

/** Opens a ledger without counters. It counts by the times that calls give. */
export type OpenLedger = (options: {
  readonly seeds: SeedSource
  readonly onThresholdCrossed: (crossing: ThresholdCrossing) => void
}) => Promise<SuiteLedger>

/** Runs a test with a ledger of its own. */
export type WithLedger = (
  use: (ledger: Ledger, crossings: ThresholdCrossing[]) => Promise<void>,
  seeds?: SeedSource,
) => Promise<void>

export function toWithLedger(open: OpenLedger): WithLedger {
  return async (use, seeds = openSeeds()) => {
    const crossings: ThresholdCrossing[] = []
    const { ledger, close } = await open({ seeds, onThresholdCrossed: each => void crossings.push(each) })
    try {
      await use(ledger, crossings)
    } finally {
      await close()
    }
  }
}

/** Returns the refusal of a verdict. Throws where the request was admitted or the counters were unavailable. */
export function refusalOf(verdict: Verdict) {
  if (verdict.isAdmitted || !('refusal' in verdict)) {
    throw new Error(`not refused: ${JSON.stringify(verdict)}`)
  }
  return verdict.refusal
}
