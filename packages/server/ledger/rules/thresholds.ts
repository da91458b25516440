import type { Meter } from '../../core/limits/meter.ts'
import type { LedgerOptions } from '../ledger.ts'

/** Reports each alert threshold above `before` and up to `settled`. Returns the highest threshold reported, otherwise `before`. */
export function reportCrossings(
  meter: Meter,
  before: number,
  settled: number,
  onThresholdCrossed: LedgerOptions['onThresholdCrossed'],
): number {
  let highest = before
  for (const threshold of meter.alertThresholds) {
    if (threshold > settled) break
    if (threshold <= before) continue
    highest = threshold
    onThresholdCrossed({ meter, threshold, settled })
  }
  return highest
}
