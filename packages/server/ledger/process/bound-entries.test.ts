import { expect, test } from 'vitest'
import { boundEntries } from './bound-entries.ts'
import { RollingCounter } from './rolling-counter.ts'

const WINDOW_MS = 31 * 86_400_000

function fill(entries: number): RollingCounter {
  const counter = new RollingCounter(WINDOW_MS)
  for (let index = 0; index < entries; index++) counter.insert(index * 60_000, 1)
  return counter
}

const count = (counters: readonly RollingCounter[]): number =>
  counters.reduce((sum, { entryCount }) => sum + entryCount, 0)

test('only the organization with most of the entries keeps fewer, and all of its usage', () => {
  const busy = [...Array.from({ length: 40 }, () => fill(500)), ...Array.from({ length: 40 }, () => fill(2))]
  const quiet = [fill(1_000), fill(3)]
  const all = [...busy.map(each => ['busy', each] as const), ...quiet.map(each => ['quiet', each] as const)]
  boundEntries(all, 30_000)
  expect(count(busy)).toBe(20_080)
  boundEntries(all, 5_000)
  expect(count(quiet)).toBe(1_003)
  expect(count(busy)).toBeLessThan(4_100)
  expect(busy.map(({ settled }) => settled)).toEqual([
    ...Array.from({ length: 40 }, () => 500),
    ...Array.from({ length: 40 }, () => 2),
  ])
  // Small counters of the same organization stay exact.
  expect(busy.at(-1)?.entryCount).toBe(2)
})

test('an entry never expires before its time, also where few are kept', () => {
  const counter = fill(1_000)
  boundEntries([['o', counter]], 16)
  expect(counter.entryCount).toBeLessThanOrEqual(17)
  for (const index of [0, 100, 500, 999]) {
    counter.expireEntries(index * 60_000 + WINDOW_MS - 1)
    expect(counter.settled).toBeGreaterThanOrEqual(1_000 - index)
  }
  counter.expireEntries(999 * 60_000 + WINDOW_MS)
  expect(counter.settled).toBe(0)
})

test('entries are exact again once there is room', () => {
  const counter = fill(1_000)
  boundEntries([['o', counter]], 16)
  boundEntries([['o', counter]], 1_000_000)
  for (let index = 0; index < 100; index++) counter.insert(1_000 * 60_000 + index, 1)
  expect(counter.entryCount).toBeGreaterThanOrEqual(100)
})
