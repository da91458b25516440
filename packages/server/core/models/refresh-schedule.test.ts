import { expect, test } from 'vitest'
import { refreshDelayMs } from './refresh-schedule.ts'

const MINUTE = 60_000

test('asks hourly while there are results, and ever later while there are none, up to a day', () => {
  expect(refreshDelayMs(0)).toBe(60 * MINUTE)
  expect([1, 2, 3, 4, 5, 9].map(refreshDelayMs)).toEqual(
    [5, 10, 20, 40, 80, 1280].map(minutes => minutes * MINUTE),
  )
  expect([10, 1_000, 2_000].map(refreshDelayMs)).toEqual([1440, 1440, 1440].map(minutes => minutes * MINUTE))
})
