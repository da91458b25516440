import { expect, test } from 'vitest'
import { MAX_ROLLING_ENTRIES, rollingSlotMs } from './rolling-resolution.ts'

test.each([
  [1, 1],
  [1000, 1],
  [20_000, 1],
  [20_001, 2],
  [60_000, 3],
  [86_400_000, 4320],
  [31_536_000_000, 1_576_800],
])('a window of %i ms has slots of %i ms, at most twenty thousand of them', (windowMs, slotMs) => {
  expect(rollingSlotMs(windowMs)).toBe(slotMs)
  expect(windowMs / slotMs).toBeLessThanOrEqual(MAX_ROLLING_ENTRIES)
})
