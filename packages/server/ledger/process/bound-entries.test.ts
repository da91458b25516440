import { expect, test } from 'vitest'
import { boundEntries, type EntryHolder } from './bound-entries.ts'
import { RollingCounter } from './rolling-counter.ts'

const WINDOW_MS = 31 * 86_400_000

function fill(entries: number): RollingCounter {
  const counter = new RollingCounter(WINDOW_MS)
  for (let index = 0; index < entries; index++) counter.insert(index * 60_000, 1)
  return counter
}

const count = (counters: readonly RollingCounter[]): number =>
  counters.reduce((sum, { entryCount }) => sum + entryCount, 0)

function hold(counters: readonly RollingCounter[]): EntryHolder {
  return {
    get entryCount() {
      return count(counters)
    },
    mostEntries: 20_000,
    rollingCounters: () => counters,
  }
}

/** A tick for each counter. */
const TICKS = { isOver: true, next: async () => {} }

test('only the organization with most of the entries keeps fewer, and all of its usage', async () => {
  const busy = [...Array.from({ length: 40 }, () => fill(500)), ...Array.from({ length: 40 }, () => fill(2))]
  const quiet = [fill(1_000), fill(3)]
  const all = [hold(busy), hold(quiet)]
  await boundEntries(all, 30_000, TICKS)
  expect(count(busy)).toBe(20_080)
  await boundEntries(all, 5_000, TICKS)
  expect(count(quiet)).toBe(1_003)
  expect(count(busy)).toBeLessThan(4_100)
  expect(busy.map(({ settled }) => settled)).toEqual([
    ...Array.from({ length: 40 }, () => 500),
    ...Array.from({ length: 40 }, () => 2),
  ])
  // Small counters of the same organization stay exact.
  expect(busy.at(-1)?.entryCount).toBe(2)
})

test('an entry never expires before its time, also where few are kept', async () => {
  const counter = fill(1_000)
  await boundEntries([hold([counter])], 16, TICKS)
  expect(counter.entryCount).toBeLessThanOrEqual(17)
  for (const index of [0, 100, 500, 999]) {
    counter.expireEntries(index * 60_000 + WINDOW_MS - 1)
    expect(counter.settled).toBeGreaterThanOrEqual(1_000 - index)
  }
  counter.expireEntries(999 * 60_000 + WINDOW_MS)
  expect(counter.settled).toBe(0)
})

test('entries are exact again once there is room', async () => {
  const counter = fill(1_000)
  const holder = hold([counter])
  await boundEntries([holder], 16, TICKS)
  await boundEntries([holder], 1_000_000, TICKS)
  for (let index = 0; index < 100; index++) counter.insert(1_000 * 60_000 + index, 1)
  expect(counter.entryCount).toBeGreaterThanOrEqual(100)
})

test('lets others go on after each counter, and looks at none while there is room', async () => {
  const counters = Array.from({ length: 50 }, () => fill(20))
  let ticks = 0
  let asked = 0
  const counting = { isOver: true, next: async () => void ticks++ }
  const holder = { entryCount: 1_000, mostEntries: 20_000, rollingCounters: () => (asked++, counters) }
  await boundEntries([holder], 1_000, counting)
  expect([asked, ticks]).toEqual([0, 0])
  await boundEntries([holder], 500, counting)
  expect(ticks).toBe(2 * counters.length)
})
