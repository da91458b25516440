import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '@rideau/llm/testing/collect-garbage'
import { describe, expect, test } from 'vitest'
import type { Meter, Seed } from '../../core/limits/meter.ts'
import type { Verdict } from '../ledger.ts'
import { CALLER, makeMeter, openSeeds, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'
import type { CounterRow } from './counter-row.ts'
import { CounterTable } from './counter-table.ts'
import { ProcessLedger } from './process-ledger.ts'

const MONTH_MS = 31 * 86_400_000

function open(used: ReadonlyMap<string, Seed> = new Map(), maxRows = 20) {
  const options = {
    owner: 'test',
    seeds: openSeeds(used),
    onThresholdCrossed: () => {},
    openedAt: T,
    maxRows,
  }
  return { ledger: new ProcessLedger(options), table: new CounterTable(options) }
}

/** A rate of one request a month for an end user of an organization. */
function toMonthly(orgId: string, endUserId: string): Meter {
  const settings = { since: T, windowMs: MONTH_MS, subject: { orgId, endUserId } }
  return makeMeter('rate', 1, { ...settings, key: `${orgId}/${endUserId}` })
}

describe('with more counters than the bound', () => {
  const use = (ledger: ProcessLedger, orgId: string, endUserId: string, at: number) => {
    const id = `${orgId}/${endUserId}/${at}`
    const verdict = ledger.reserve(toRequest(id, [toMonthly(orgId, endUserId)], { at }))
    if (verdict instanceof Promise) void verdict.then(() => ledger.settle(id, toUsage()))
    else ledger.settle(id, toUsage())
    return verdict
  }

  test('an organization loses its own unused ones, which are seeded when they are used again', async () => {
    const seed = { used: 1, entries: [{ at: T, amount: 1 }] }
    const { ledger } = open(new Map([['busy/u0', seed]]))
    for (const name of ['q0', 'q1', 'q2']) use(ledger, 'quiet', name, T)
    use(ledger, 'busy', 'u0', T)
    use(ledger, 'busy', 'regular', T)
    for (let index = 1; index < 200; index++) {
      expect(await use(ledger, 'busy', `u${index}`, T + index)).toMatchObject({ isAdmitted: true })
      // It is used all the time, so it stays.
      const verdict = use(ledger, 'busy', 'regular', T + index)
      expect(refusalOf(verdict as Verdict)).toMatchObject({ settled: 1 })
    }
    expect(ledger.rowCount).toBeLessThanOrEqual(21)
    const first = use(ledger, 'busy', 'u0', T + 1_000)
    expect(first).toBeInstanceOf(Promise)
    expect(refusalOf(await first)).toMatchObject({ settled: 1 })
    // The other organization has fewer, so it keeps them.
    for (const name of ['q0', 'q1', 'q2']) {
      expect(refusalOf(use(ledger, 'quiet', name, T + 1_000) as Verdict)).toMatchObject({ settled: 1 })
    }
    // And new ones of it need no seed.
    expect(use(ledger, 'quiet', 'q3', T + 1_000)).toMatchObject({ isAdmitted: true })
  })

  test('new ones are seeded where those that were lost had a window of the same length, until that has passed', async () => {
    const { ledger } = open()
    for (let index = 0; index < 200; index++) await use(ledger, 'busy', `u${index}`, T + index)
    const reserve = (key: string, windowMs: number, at: number) =>
      ledger.reserve(
        toRequest(key, [makeMeter('rate', 1, { key, windowMs, subject: { orgId: 'busy' } })], { at }),
      )
    expect(reserve('short', 60_000, T + 60_000)).not.toBeInstanceOf(Promise)
    expect(reserve('long', MONTH_MS, T + MONTH_MS)).toBeInstanceOf(Promise)
    expect(reserve('later', MONTH_MS, T + 3 * MONTH_MS)).not.toBeInstanceOf(Promise)
  })

  test('a fixed window that was lost is seeded, although the one before was counted here', async () => {
    const { ledger } = open()
    const budget = (since: number): Meter =>
      makeMeter('budget', 1, { key: 'b', since, end: since + 100, subject: { orgId: 'busy' } })
    for (const since of [T - 100, T]) {
      await ledger.reserve(toRequest(`b${since}`, [budget(since)], { at: since }))
      ledger.settle(`b${since}`, toUsage({ nanoUsd: 1 }))
    }
    for (let index = 0; index < 200; index++) await use(ledger, 'busy', `u${index}`, T + index)
    expect(ledger.reserve(toRequest('again', [budget(T)], { at: T + 99 }))).toBeInstanceOf(Promise)
  })

  test('requests that are seeded together are admitted, although they are more than the bound', async () => {
    const { ledger } = open()
    const meterOf = (index: number): Meter => makeMeter('rate', 1, { key: `r${index}` })
    const verdicts = Array.from({ length: 100 }, (_, index) =>
      ledger.reserve(toRequest(`r${index}`, [meterOf(index)])),
    )
    const admitted = (await Promise.all(verdicts)).filter(({ isAdmitted }) => isAdmitted)
    expect(admitted).toHaveLength(100)
  })

  test('those of running requests stay, however many there are', () => {
    const { ledger } = open()
    for (let index = 0; index < 100; index++) {
      ledger.reserve(toRequest(`r${index}`, [toMonthly('busy', `u${index}`)]))
    }
    expect(ledger.rowCount).toBe(100)
    for (let index = 0; index < 100; index++) ledger.settle(`r${index}`, toUsage())
    for (let index = 0; index < 10; index++) ledger.reserve(toRequest(`s${index}`, []))
    expect(ledger.rowCount).toBe(20)
  })
})

test('a request that ends looks at counters of its own subjects only, however many were opened since it began', () => {
  const { ledger } = open(new Map(), 100_000)
  let looks = 0
  const counted = (meter: Meter): Meter =>
    Object.defineProperty({ ...meter }, 'since', {
      get: () => {
        looks++
        return meter.since
      },
    })
  ledger.reserve(toRequest('old', []))
  for (let index = 0; index < 5_000; index++) {
    ledger.reserve(toRequest(`r${index}`, [counted(toMonthly('org', `u${index}`))]))
    ledger.reserve(toRequest(`s${index}`, [counted(toMonthly('other', 'user'))]))
  }
  const own = ['projectId', 'environmentId', 'keyId', 'endUserId'].map(field =>
    makeMeter('rate', 9, {
      key: field,
      since: T,
      subject: { [field]: CALLER[field as keyof typeof CALLER] },
    }),
  )
  ledger.reserve(toRequest('own', own.map(counted)))
  looks = 0
  ledger.settle('old', toUsage())
  expect(looks).toBe(own.length)
  for (const meter of own)
    expect(ledger.reserve(toRequest(`last ${meter.key}`, [meter]))).toMatchObject({
      statuses: [{ settled: 1 }],
    })
})

describe('pruning', () => {
  const find = (table: CounterTable, endUserId: string, at: number): readonly CounterRow[] =>
    table.find([toMonthly('org', endUserId)], at) as CounterRow[]

  test('lets others go on after each counter', async () => {
    const { table } = open(new Map(), 1_000)
    for (let index = 0; index < 300; index++) find(table, `u${index}`, T)
    let ticks = 0
    await table.prune(T, { isOver: true, next: async () => void ticks++ })
    expect([ticks, table.size]).toEqual([300, 0])
  })

  test('leaves alone what others open, remove and use meanwhile', async () => {
    const { table } = open(new Map(), 1_000)
    for (let index = 0; index < 300; index++) find(table, `u${index}`, T)
    const opened: string[] = []
    const next = async (): Promise<void> => {
      const name = `new ${opened.length}`
      if (opened.length === 100) return
      opened.push(name)
      for (const { counter } of find(table, name, T)) if (counter.kind === 'rolling') counter.insert(T, 1)
    }
    await table.prune(T, { isOver: true, next })
    expect(table.size).toBe(100)
    for (const name of opened) expect(find(table, name, T)).toMatchObject([{ counter: { settled: 1 } }])
    expect(table.size).toBe(100)
  })
})

test('counters that were removed leave no memory behind while others of their organization stay', async () => {
  const { table } = open(new Map(), 1_000_000)
  const usedBytes = (): number => {
    collectGarbage()
    return getHeapStatistics().used_heap_size
  }
  const turnOver = async (from: number): Promise<void> => {
    for (let index = from; index < from + 50_000; index++) table.find([toMonthly('org', `u${index}`)], T)
    await table.prune(T)
  }
  const kept = toMonthly('org', 'kept')
  const [row] = table.find([kept], T) as CounterRow[]
  if (row?.counter.kind === 'rolling') row.counter.insert(T, 1)
  await turnOver(0)
  const before = usedBytes()
  for (let round = 1; round <= 4; round++) await turnOver(round * 50_000)
  expect(table.size).toBe(1)
  // 200,000 rows have about 100 MB.
  expect(usedBytes() - before).toBeLessThan(20_000_000)
})

test('a window that a late request opens does not stand for the windows after it', async () => {
  const HOUR = 3_600_000
  const seed = { used: 1, entries: [] }
  const windowAt = (since: number, series = 'q'): Meter =>
    makeMeter('requests', 9, { key: series, since, end: since + HOUR, subject: { endUserId: series } })
  const now = T + HOUR
  const { table } = open(new Map([[windowAt(now).key, seed]]), 2)
  await table.seed([windowAt(now)], now)
  await table.seed([windowAt(T)], now)
  // Crowds out the current window, and not the one before, which is used.
  for (let index = 0; index < 5; index++) {
    await table.seed([windowAt(now, `other ${index}`)], now)
    table.find([windowAt(T)], now)
    table.crowdOut(now)
  }
  expect(table.find([windowAt(now)], now)).toBeUndefined()
})
