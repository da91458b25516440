import { expect, test } from 'vitest'
import { makeMeter } from '../testing/make-meter.ts'
import { reportCrossings } from './thresholds.ts'

test.each<[number[], number, number, number[], number]>([
  [[], 0, 100, [], 0],
  [[50, 80, 100], 0, 49, [], 0],
  [[50, 80, 100], 0, 50, [50], 50],
  [[50, 80, 100], 50, 79, [], 50],
  [[50, 80, 100], 50, 100, [80, 100], 100],
  [[50, 80, 100], 100, 5000, [], 100],
  // A correction lowers the settled amount: what was reported stays reported.
  [[50, 80, 100], 80, 20, [], 80],
  [[50], 0, -1, [], 0],
])(
  'with thresholds %j, from %i to %i, reports %j and returns %i',
  (thresholds, before, settled, reported, result) => {
    const meter = makeMeter('budget', 100, { alertThresholds: thresholds })
    const crossings: unknown[] = []
    expect(reportCrossings(meter, before, settled, crossing => void crossings.push(crossing))).toBe(result)
    expect(crossings).toEqual(reported.map(threshold => ({ meter, threshold, settled })))
  },
)
