import { measureMs } from '@rideau/llm/testing/measure-ms'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RollingCounter, type RollingEntry } from './rolling-counter.ts'

describe('a rolling counter', () => {
  test('counts an entry from its time up to, but not at, a window later', () => {
    const counter = new RollingCounter(1000)
    counter.reserve(5000, 7)
    counter.expireEntries(5999)
    expect([counter.reserved, counter.oldestAt()]).toEqual([7, 5000])
    counter.expireEntries(6000)
    expect([counter.reserved, counter.oldestAt()]).toEqual([0, null])
  })

  test('names the entry whose expiry frees an amount', () => {
    const counter = new RollingCounter(1000)
    for (const [at, amount] of [
      [10, 3],
      [20, 0],
      [30, 4],
    ] as const) {
      counter.reserve(at, amount)
    }
    expect([0, 1, 3, 4, 7, 8].map(amount => counter.findBlockingAt(amount))).toEqual([
      10,
      10,
      10,
      30,
      30,
      null,
    ])
  })

  test('inserts earlier usage in order of time', () => {
    const counter = new RollingCounter(1000)
    counter.reserve(50, 1)
    counter.insert(20, 2)
    counter.insert(70, 4)
    counter.insert(20, 8)
    expect([counter.settled, counter.reserved]).toEqual([14, 1])
    counter.expireEntries(1020)
    expect([counter.settled, counter.oldestAt()]).toEqual([4, 50])
  })

  test('has the sums of a list of entries after any operations', () => {
    const operation = fc.record({
      action: fc.constantFrom('reserve', 'adjust', 'settle', 'unsettle', 'insert', 'wait'),
      which: fc.nat(20),
      amount: fc.integer({ min: 0, max: 9 }),
      ms: fc.nat(300),
    })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80 }), operations => {
        const counter = new RollingCounter(1000)
        const own: RollingEntry[] = []
        const all: { at: number; amount: number; isReserved: boolean }[] = []
        const listed = new Map<RollingEntry, (typeof all)[number]>()
        let now = 10_000
        for (const { action, which, amount, ms } of operations) {
          const entry = own[which % Math.max(1, own.length)]
          const item = entry && listed.get(entry)
          if (action === 'wait') now += ms
          if (action === 'insert') {
            counter.insert(now - ms, amount)
            all.push({ at: now - ms, amount, isReserved: false })
          } else if (action === 'reserve') {
            const added = counter.reserve(now, amount)
            const copy = { at: added.at, amount, isReserved: true }
            own.push(added)
            all.push(copy)
            listed.set(added, copy)
          } else if (entry !== undefined && item !== undefined) {
            if (action === 'adjust') {
              counter.adjust(entry, amount)
              item.amount += amount
            } else if (action === 'settle') {
              counter.settle(entry)
              item.isReserved = false
            } else if (action === 'unsettle') {
              counter.unsettle(entry)
              item.isReserved = true
            }
          }
          counter.expireEntries(now)
          const counted = all.filter(({ at }) => at > now - 1000)
          const sum = (isReserved: boolean): number =>
            counted
              .filter(each => each.isReserved === isReserved)
              .reduce((total, each) => total + each.amount, 0)
          expect([counter.settled, counter.reserved]).toEqual([sum(false), sum(true)])
          const oldest = counted.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY)
          expect(counter.oldestAt()).toBe(counted.length === 0 ? null : oldest)
          const inOrder = counted.toSorted((one, other) => one.at - other.at)
          let total = 0
          const blocking = inOrder.find(each => (total += each.amount) >= which)
          expect(counter.findBlockingAt(which)).toBe(blocking?.at ?? null)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('merges settled entries of a slot into the latest, so that nothing expires before its time', () => {
    const windowMs = 100_000
    const counter = new RollingCounter(windowMs)
    const count = 60_000
    for (let index = 0; index < count; index++) counter.settle(counter.reserve(index, 1))
    counter.expireEntries(count)
    expect(counter.settled).toBe(count)
    for (const at of [0, 1, 777, 30_000, count - 1]) {
      counter.expireEntries(at + windowMs)
      // All entries up to `at` have expired, except those of the last slot of 5 ms.
      expect(counter.settled).toBeGreaterThanOrEqual(count - 1 - at)
      expect(counter.settled).toBeLessThan(count - 1 - at + 5)
    }
    counter.expireEntries(count - 1 + windowMs)
    expect([counter.settled, counter.oldestAt()]).toEqual([0, null])
  })

  test('takes the usage of a busy window as fast as it comes, not in the square of its number', () => {
    const counter = new RollingCounter(31 * 86_400_000)
    const usedMs = measureMs(() => {
      for (let at = 0; at < 200_000; at++) counter.insert(at * 10_000, 1)
      // Half a minute, if each insertion looks at all of them.
    })
    expect(usedMs).toBeLessThan(2_000)
    expect([counter.settled, counter.entryCount]).toEqual([200_000, expect.any(Number)])
    expect(counter.entryCount).toBeLessThanOrEqual(40_000)
  })

  test('finds the entry whose expiry frees an amount among thousands, whatever has changed, as a walk of all does', () => {
    const counter = new RollingCounter(50_000)
    let state = 1
    const pick = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below
    let entries: RollingEntry[] = []
    const check = (): void => {
      entries = entries.filter(({ isExpired }) => !isExpired)
      const total = entries.reduce((sum, { amount }) => sum + amount, 0)
      expect(counter.settled + counter.reserved).toBe(total)
      for (const amount of [0, 1, total >> 2, total >> 1, total - 1, total, total + 1]) {
        let sum = 0
        const blocking = entries.find(entry => (sum += entry.amount) >= amount)
        expect(counter.findBlockingAt(amount)).toBe(blocking?.at ?? null)
      }
    }
    for (let at = 0; at < 15_000; at++) {
      entries.push(counter.reserve(at * 10, pick(9)))
      const any = entries[pick(entries.length)] as RollingEntry
      if (at % 3 === 0) counter.settle(any)
      if (at % 5 === 0) counter.adjust(any, pick(5))
      counter.expireEntries(at * 10)
      if (at % 500 === 0) check()
    }
    counter.expireEntries(200_000)
    expect([counter.findBlockingAt(1), counter.entryCount]).toEqual([null, 0])
  })

  test.each([
    ['late', (index: number) => 1_000_000 - index],
    ['merged', (index: number) => index * 10],
  ] as const)('finds it among %s entries too', (_name, toAt) => {
    const counter = new RollingCounter(1_000_000)
    const count = 19_000
    for (let index = 0; index < count; index++) counter.insert(toAt(index), 1)
    counter.keepAtMost(20_000)
    const ats = Array.from({ length: count }, (_, index) => toAt(index)).sort((one, other) => one - other)
    for (const amount of [1, 127, 128, 129, 5_000, count]) {
      expect(counter.findBlockingAt(amount)).toBe(ats[amount - 1])
    }
    expect(counter.findBlockingAt(count + 1)).toBe(null)
    counter.keepAtMost(1_000)
    for (const amount of [1, 127, 5_000, count]) {
      const blockingAt = counter.findBlockingAt(amount) as number
      expect(blockingAt).toBeGreaterThanOrEqual(ats[amount - 1] as number)
      // The slots are 1,000 ms long.
      expect(blockingAt).toBeLessThan((ats[amount - 1] as number) + 1_000)
    }
  })

  test('never merges running requests, however many there are', () => {
    const counter = new RollingCounter(1_000_000)
    const running = Array.from({ length: 45_000 }, (_, index) => counter.reserve(index, 2))
    for (let index = 0; index < 45_000; index++) counter.settle(counter.reserve(45_000 + index, 1))
    expect([counter.settled, counter.reserved]).toEqual([45_000, 90_000])
    for (const entry of running) counter.adjust(entry, -2)
    expect([counter.settled, counter.reserved]).toEqual([45_000, 0])
  })
})
