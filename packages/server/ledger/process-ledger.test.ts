import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Meter, Seed } from '../core/meter.ts'
import { CALLER, makeMeter, openSeeds } from '../testing/harness/ledger-model.ts'
import { describeLedger } from '../testing/harness/ledger-suite.ts'
import type { Crossing, SeedSource, Used, Verdict } from './ledger.ts'
import { ProcessLedger } from './process-ledger.ts'

const T = 1_000_000_000_000

function openLedger(seeds: SeedSource, openedAt = T): { ledger: ProcessLedger; crossings: Crossing[] } {
  const crossings: Crossing[] = []
  const ledger = new ProcessLedger({
    owner: 'test',
    seeds,
    onCrossing: each => crossings.push(each),
    openedAt,
  })
  return { ledger, crossings }
}

describeLedger('in process', async ({ seeds, onCrossing }) => {
  const ledger = new ProcessLedger({ owner: 'test', seeds, onCrossing, openedAt: 2_000_000_000_000 })
  return { ledger, close: () => ledger.close() }
})

function toRequest(id: string, meters: readonly Meter[], nanoUsd = 0, at = T) {
  return { id, at, meters, subject: CALLER, hold: { tokens: 0, nanoUsd }, leaseMs: 60_000 }
}

function toUsed(nanoUsd: number): Used {
  return { requests: 1, tokens: 0, nanoUsd, isSandbox: false }
}

/** A usage ledger that is drained behind: what settles waits in memory until somebody drains it. */
class Books implements SeedSource {
  readonly #stored: [id: string, nanoUsd: number][] = []
  #owed: [id: string, nanoUsd: number][] = []
  /** Steps of reads that are under way, for a scheduler to take. */
  readonly #scheduler: fc.Scheduler

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler
  }

  write(id: string, nanoUsd: number): void {
    this.#owed.push([id, nanoUsd])
  }

  drain(): void {
    this.#stored.push(...this.#owed)
    this.#owed = []
  }

  total(): number {
    return [...this.#stored, ...this.#owed].reduce((sum, [, nanoUsd]) => sum + nanoUsd, 0)
  }

  async read(
    meters: readonly Meter[],
    _at: number,
    onCut: (missing: ReadonlySet<string>) => void,
  ): Promise<readonly Seed[]> {
    this.drain()
    await this.#scheduler.schedule(Promise.resolve(), 'the drain')
    onCut(new Set(this.#owed.map(([id]) => id)))
    const used = this.#stored.reduce((sum, [, nanoUsd]) => sum + nanoUsd, 0)
    await this.#scheduler.schedule(Promise.resolve(), 'the question')
    return meters.map(() => ({ used, entries: [] }))
  }
}

describe('a new counter', () => {
  test('counts every request once, whatever settles or is drained while it is seeded', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.nat(2), { maxLength: 8 }), async (scheduler, spends) => {
        const books = new Books(scheduler)
        const { ledger } = openLedger(books)
        const meters = [makeMeter('budget', 1_000)]
        // Admitted before the budget was made, so they hold nothing of it; some settle while it is seeded.
        spends.forEach((_, index) => ledger.admit(toRequest(`old${index}`, [])))
        for (const [index, nanoUsd] of spends.entries()) {
          void scheduler.schedule(Promise.resolve(), `settle ${index}`).then(() => {
            books.write(`old${index}`, nanoUsd)
            ledger.settle(`old${index}`, toUsed(nanoUsd))
          })
          void scheduler.schedule(Promise.resolve(), 'drain').then(() => books.drain())
        }
        const admitted = scheduler
          .schedule(Promise.resolve(), 'new')
          .then(() => ledger.admit(toRequest('new', meters, 5)))
        expect((await scheduler.waitFor(admitted)).isAdmitted).toBe(true)
        await scheduler.waitAll()
        expect(await ledger.read(meters, T)).toMatchObject([{ settled: books.total(), held: 5 }])
      }),
    )
  })

  test('whose seed cannot be read refuses, and is asked for again by the next request', async () => {
    let isAway = true
    const known = openSeeds()
    const { ledger } = openLedger({
      read: async (...question) => {
        if (isAway) throw new Error('the database is away')
        return known.read(...question)
      },
    })
    const meters = [makeMeter('budget', 10)]
    expect(await ledger.admit(toRequest('a', meters))).toMatchObject({
      isAdmitted: false,
      unavailable: expect.any(String),
    })
    isAway = false
    expect(await ledger.admit(toRequest('a', meters))).toMatchObject({ isAdmitted: true })
  })

  test('of the next window, or of a rate that is younger than the process, needs no seed and no wait', async () => {
    const { ledger } = openLedger(openSeeds())
    const first = makeMeter('budget', 10, { since: T - 100, end: T + 100 })
    const next = makeMeter('budget', 10, { since: T + 100, end: T + 300 })
    await ledger.admit(toRequest('a', [first], 10))
    const young = makeMeter('rate', 1, { since: T })
    const verdict = ledger.admit(toRequest('b', [next, young], 10, T + 100)) as Verdict
    expect(verdict.isAdmitted).toBe(true)
    const old = makeMeter('rate', 1, { key: 'old', since: T - 1 })
    expect(ledger.admit(toRequest('c', [old], 0, T + 100))).toBeInstanceOf(Promise)
    expect(
      ledger.admit(toRequest('d', [makeMeter('rate', 1, { key: 'e' })], 0, T + 60_000)),
    ).not.toBeInstanceOf(Promise)
  })

  test('raises the alerts of what was spent before', async () => {
    const meter = makeMeter('budget', 100, { alertAt: [50, 80] })
    const { ledger, crossings } = openLedger(openSeeds(new Map([[meter.key, { used: 60, entries: [] }]])))
    await ledger.admit(toRequest('a', [meter]))
    expect(crossings.map(({ threshold }) => threshold)).toEqual([50])
  })
})

test('a rate of many requests keeps no more than some twenty thousand of them, and its limit', () => {
  const { ledger } = openLedger(openSeeds())
  const meters = [makeMeter('rate', 100_000, { since: T, windowMs: 1_000_000 })]
  for (let index = 0; index < 100_000; index++) {
    ledger.admit(toRequest(`r${index}`, meters, 0, T + index))
    ledger.settle(`r${index}`, toUsed(0))
  }
  const verdict = ledger.admit(toRequest('one more', meters, 0, T + 100_000)) as Verdict
  expect(verdict).toMatchObject({ isAdmitted: false, refused: { settled: 100_000 } })
  const retryAt = 'refused' in verdict ? (verdict.refused.retryAt ?? 0) : 0
  expect(retryAt).toBeLessThanOrEqual(T + 1_000_000 + 100)
  expect(ledger.admit(toRequest('later', meters, 0, retryAt))).toMatchObject({ isAdmitted: true })
})

test('what ended is forgotten: windows, idle rates, slots', async () => {
  const { ledger } = openLedger(openSeeds())
  const meters = [makeMeter('rate', 1, { since: T }), makeMeter('concurrency', 1)]
  ledger.admit(toRequest('a', meters))
  ledger.settle('a', toUsed(0))
  ledger.sweep(T + 120_000)
  expect(ledger.rows).toBe(0)
})
