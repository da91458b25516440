import { measureMs } from '@rideau/llm/testing/measure-ms'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import type { ThresholdCrossing, Verdict } from '../ledger.ts'
import { type SeedSource, SeedStatementError } from '../seed-source.ts'
import { makeMeter, openSeeds, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { UsageDatabase } from '../testing/usage-database.ts'
import { refusalOf } from '../testing/with-ledger.ts'
import { ProcessLedger } from './process-ledger.ts'

function openLedger(seeds: SeedSource = openSeeds(), openedAt = T) {
  const crossings: ThresholdCrossing[] = []
  const onThresholdCrossed = (each: ThresholdCrossing): void => void crossings.push(each)
  const options = { owner: 'test', seeds, onThresholdCrossed, openedAt, isTimeGiven: true }
  const ledger = new ProcessLedger(options)
  return { ledger, crossings }
}

describe('a new counter', () => {
  test('counts every request once, whatever settles or is stored while it is seeded, in any order of events', async () => {
    const spends = fc.array(fc.nat(2), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), spends, fc.nat(2), async (scheduler, spends, failures) => {
        const database = new UsageDatabase()
        database.beforeSnapshot = () => scheduler.schedule(Promise.resolve(), 'snapshot')
        let tries = 0
        database.afterSnapshot = async meters => {
          await scheduler.schedule(Promise.resolve(), 'answer')
          // The rows are read again: with those of another organization, then in a half, then as those of a slow one.
          const isOurs = meters.some(({ subject }) => subject.orgId === 'org')
          if (isOurs && ++tries <= failures) throw new SeedStatementError('it took too long')
        }
        const { ledger } = openLedger(database)
        const meters = [makeMeter('budget', 1_000)]
        // Admitted before the budget existed, so without a share of it. Some settle while its counter is seeded.
        for (const index of spends.keys()) ledger.reserve(toRequest(`old${index}`, []))
        for (const [index, nanoUsd] of spends.entries()) {
          void scheduler.schedule(Promise.resolve(), `settle ${index}`).then(() => {
            database.write(`old${index}`, T, toUsage({ nanoUsd }))
            ledger.settle(`old${index}`, toUsage({ nanoUsd }))
          })
          void scheduler.schedule(Promise.resolve(), 'store').then(() => database.store())
        }
        const request = toRequest('new', meters, { amounts: { tokens: 0, nanoUsd: 5 } })
        const other = toRequest('other', [
          makeMeter('budget', 1, { key: 'other', subject: { orgId: 'other' } }),
        ])
        const reserving = scheduler.schedule(Promise.resolve(), 'new').then(() => {
          void ledger.reserve(other)
          return ledger.reserve(request)
        })
        expect((await scheduler.waitFor(reserving)).isAdmitted).toBe(true)
        await scheduler.waitAll()
        const settled = database.total(({ nanoUsd }) => nanoUsd)
        expect(await ledger.read(meters, T)).toMatchObject([{ settled, reserved: 5 }])
      }),
    )
  })

  test('needs no seed and no wait for the next window, or for a rate that is younger than the process', async () => {
    const { ledger } = openLedger()
    const amounts = { tokens: 0, nanoUsd: 10 }
    const first = makeMeter('budget', 10, { since: T - 100, end: T + 100 })
    const next = makeMeter('budget', 10, { since: T + 100, end: T + 300 })
    await ledger.reserve(toRequest('a', [first], { amounts }))
    const young = makeMeter('rate', 1, { since: T })
    const verdict = ledger.reserve(toRequest('b', [next, young], { amounts, at: T + 100 })) as Verdict
    expect(verdict.isAdmitted).toBe(true)
    const old = makeMeter('rate', 1, { key: 'old', since: T - 1 })
    expect(ledger.reserve(toRequest('c', [old], { at: T + 100 }))).toBeInstanceOf(Promise)
    const later = toRequest('d', [makeMeter('rate', 1, { key: 'e' })], { at: T + 60_000 })
    expect(ledger.reserve(later)).not.toBeInstanceOf(Promise)
  })

  test('is seeded if its policy was changed within the window, since it had another counter before', async () => {
    const { ledger } = openLedger()
    const amounts = { tokens: 0, nanoUsd: 10 }
    const edited = makeMeter('rate', 1, { key: 'edited', since: T, changedAt: T + 30_000 })
    const reserve = (id: string, meter: Meter, at: number) =>
      ledger.reserve(toRequest(id, [meter], { amounts, at }))
    expect(reserve('a', { ...edited, key: 'before' }, T + 89_999)).toBeInstanceOf(Promise)
    expect(reserve('b', { ...edited, key: 'after' }, T + 90_000)).not.toBeInstanceOf(Promise)
    await reserve('c', makeMeter('budget', 10, { since: T - 100, end: T + 100 }), T)
    const next = makeMeter('budget', 10, { since: T + 100, changedAt: T + 150, end: T + 300 })
    expect(reserve('d', next, T + 150)).toBeInstanceOf(Promise)
  })

  test('is seeded for a window that does not follow the last counted one', async () => {
    const { ledger } = openLedger()
    await ledger.reserve(toRequest('a', [makeMeter('budget', 10, { since: T - 100, end: T + 100 })]))
    const afterNext = makeMeter('budget', 10, { since: T + 200, end: T + 300 })
    expect(ledger.reserve(toRequest('b', [afterNext], { at: T + 200 }))).toBeInstanceOf(Promise)
  })

  test('is seeded by the next read, together with all that wait, if it is requested while others are seeded', async () => {
    const database = new UsageDatabase()
    let answer = (): void => {}
    database.beforeSnapshot = () => new Promise(resolve => void (answer = resolve))
    const { ledger } = openLedger(database)
    const reserve = (id: string) =>
      ledger.reserve(toRequest(id, [makeMeter('budget', 10, { key: id })])) as Promise<Verdict>
    const first = reserve('a')
    await expect.poll(() => database.reads.length).toBe(1)
    const others = [reserve('b'), reserve('c')]
    answer()
    expect((await first).isAdmitted).toBe(true)
    await expect.poll(() => database.reads.length).toBe(2)
    answer()
    expect((await Promise.all(others)).every(({ isAdmitted }) => isAdmitted)).toBe(true)
    expect(database.reads.map(meters => meters.map(({ key }) => key))).toEqual([['a@0'], ['b@0', 'c@0']])
  })

  test('without a seed needs no read: a meter of concurrency', () => {
    const database = new UsageDatabase()
    const { ledger } = openLedger(database)
    expect(ledger.reserve(toRequest('a', [makeMeter('concurrency', 1)]))).toMatchObject({ isAdmitted: true })
    expect(database.reads).toEqual([])
  })
})

test('a rate of many requests keeps some twenty thousand entries at most, and its limit', () => {
  const { ledger } = openLedger()
  const meters = [makeMeter('rate', 100_000, { since: T, windowMs: 1_000_000 })]
  for (let index = 0; index < 100_000; index++) {
    ledger.reserve(toRequest(`r${index}`, meters, { at: T + index }))
    ledger.settle(`r${index}`, toUsage())
  }
  const verdict = ledger.reserve(toRequest('one more', meters, { at: T + 100_000 })) as Verdict
  expect(verdict).toMatchObject({ isAdmitted: false, refusal: { settled: 100_000 } })
  const retryAt = refusalOf(verdict).retryAt ?? 0
  expect(retryAt).toBeLessThanOrEqual(T + 1_000_000 + 100)
  expect(ledger.reserve(toRequest('later', meters, { at: retryAt }))).toMatchObject({ isAdmitted: true })
})

test('counters with too many entries together count all usage, until a later time', async () => {
  const options = { owner: 'test', seeds: openSeeds(), onThresholdCrossed: () => {}, openedAt: T }
  const ledger = new ProcessLedger({ ...options, maxEntries: 10 })
  const meters = [makeMeter('rate', 100, { since: T, windowMs: 1_000_000 })]
  for (let index = 0; index < 100; index++) {
    ledger.reserve(toRequest(`r${index}`, meters, { at: T + index }))
    ledger.settle(`r${index}`, toUsage())
  }
  const refused = () => refusalOf(ledger.reserve(toRequest('x', meters, { at: T + 200 })) as Verdict)
  expect(refused()).toMatchObject({ settled: 100, retryAt: T + 1_000_000 })
  await ledger.expire(T + 200)
  expect(refused()).toMatchObject({ settled: 100, retryAt: T + 99 + 1_000_000 })
})

describe('counters that are not needed any more', () => {
  test('are removed: rates and concurrency without requests', async () => {
    const { ledger } = openLedger()
    ledger.reserve(toRequest('a', [makeMeter('rate', 1, { since: T }), makeMeter('concurrency', 1)]))
    ledger.settle('a', toUsage())
    await ledger.expire(T + 120_000)
    expect(ledger.rowCount).toBe(0)
  })

  test('are removed an hour after the end of their window, so that the next window needs no seed before', async () => {
    const { ledger } = openLedger()
    const first = makeMeter('budget', 10, { since: T - 100, end: T + 100 })
    await ledger.reserve(toRequest('a', [first]))
    ledger.settle('a', toUsage())
    await ledger.expire(T + 3_600_000)
    expect(ledger.rowCount).toBe(1)
    await ledger.expire(T + 100 + 3_600_000)
    expect(ledger.rowCount).toBe(0)
    const next = makeMeter('budget', 10, { since: T + 100, end: T + 300 })
    expect(ledger.reserve(toRequest('b', [next], { at: T + 100 }))).toBeInstanceOf(Promise)
  })

  test('are kept while a request reserves of them or may be restored in them', async () => {
    const { ledger } = openLedger()
    const meters = [makeMeter('budget', 10, { since: T - 100, end: T + 100 })]
    const amounts = { tokens: 0, nanoUsd: 6 }
    await ledger.reserve(toRequest('a', meters, { amounts, leaseMs: 10_000_000 }))
    await ledger.expire(T + 9_000_000)
    expect(ledger.rowCount).toBe(1)
    expect(await ledger.expire(T + 10_000_001)).toBe(1)
    expect(ledger.rowCount).toBe(1)
    expect(ledger.extend('a', amounts, T + 10_000_001, 1000)).toMatchObject({
      isAdmitted: true,
      statuses: [{ settled: 0, reserved: 6 }],
    })
  })

  test('an expired reservation is forgotten an hour after its lease', async () => {
    const { ledger } = openLedger()
    const meters = [makeMeter('budget', 10)]
    await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 6 }, leaseMs: 1000 }))
    await ledger.expire(T + 1001)
    await ledger.expire(T + 1000 + 3_600_000)
    expect(ledger.reservationCount).toBe(1)
    await ledger.expire(T + 1001 + 3_600_000)
    expect(ledger.reservationCount).toBe(0)
    ledger.settle('a', toUsage({ nanoUsd: 1 }))
    expect(await ledger.read(meters, T)).toMatchObject([{ settled: 6, reserved: 0 }])
  })
})

test('a refusal by 50 full rates names the exact time at which all have room, and looks at few of their entries', async () => {
  const count = 19_000
  const entries = Array.from({ length: count }, (_, index) => ({ at: T - count + index, amount: 1 }))
  const rates = (limit: number) =>
    Array.from({ length: 50 }, (_, index) => makeMeter('rate', limit, { key: `rate ${index}` }))
  const seeds = openSeeds(new Map(rates(1).map(({ key }) => [key, { used: count, entries }])))
  const { ledger } = openLedger(seeds)
  // The limits were lowered, so nearly all entries must leave the window.
  const verdict = await ledger.reserve(toRequest('first', rates(2)))
  expect(refusalOf(verdict)).toMatchObject({ settled: count, retryAt: T - 2 + 60_000 })
  const usedMs = measureMs(() => {
    for (let index = 0; index < 200; index++) void ledger.reserve(toRequest(`${index}`, rates(2)))
    // A second, if each refusal walks all entries.
  })
  expect(usedMs).toBeLessThan(250)
})

describe('leases', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['set forward', 86_400_000],
    ['set back', -86_400_000],
  ])('run out after their time, also if the clock is %s', async (_, shiftMs) => {
    const ledger = new ProcessLedger({
      owner: 'test',
      seeds: openSeeds(),
      onThresholdCrossed: () => {},
      openedAt: T,
    })
    const meters = [makeMeter('concurrency', 1)]
    ledger.reserve(toRequest('a', meters, { leaseMs: 1_000 }))
    vi.advanceTimersByTime(900)
    ledger.extend('a', { tokens: 0, nanoUsd: 0 }, T + shiftMs, 1_000)
    vi.advanceTimersByTime(1_000)
    expect(await ledger.expire(T + shiftMs)).toBe(0)
    vi.advanceTimersByTime(1)
    expect(await ledger.expire(T)).toBe(1)
  })
})

test('health is always good, and recovered settlements need nothing: counters end with their process', async () => {
  const { ledger, crossings } = openLedger()
  expect(ledger.health()).toEqual({ isHealthy: true, reasons: [] })
  await ledger.settleRecovered()
  expect(crossings).toEqual([])
})
