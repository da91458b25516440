import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import type { Verdict } from '../ledger.ts'
import { type SeedSource, SeedStatementError } from '../seed-source.ts'
import { makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { ProcessLedger } from './process-ledger.ts'

const FAST_MS = 10

/** Seeds whose reads take as long as those of the slowest organization in them, and fail at their timeout. */
class TimedSeeds implements SeedSource {
  /** The organizations of each read so far, and its timeout. */
  readonly reads: { readonly orgIds: readonly string[]; readonly timeoutMs: number }[] = []
  /** The meters of each read so far, by organization. */
  readonly counts: Record<string, number>[] = []
  readonly latencyOf = new Map<string, number>()
  running = 0
  mostRunning = 0

  read: SeedSource['read'] = (meters, _at, onSnapshot, _without, timeoutMs = 0) => {
    const orgIds = [...new Set(meters.map(({ subject }) => subject.orgId))]
    this.reads.push({ orgIds, timeoutMs })
    const counts: Record<string, number> = {}
    for (const { subject } of meters) counts[subject.orgId] = (counts[subject.orgId] ?? 0) + 1
    this.counts.push(counts)
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    onSnapshot(new Set())
    const latency = Math.max(...orgIds.map(orgId => this.latencyOf.get(orgId) ?? FAST_MS))
    return new Promise((resolve, reject) => {
      setTimeout(
        () => {
          this.running--
          if (latency > timeoutMs) reject(new SeedStatementError('it took too long'))
          else resolve(meters.map(() => ({ used: 3, entries: [] })))
        },
        Math.min(latency, timeoutMs),
      )
    })
  }
}

describe('seeds of several organizations', () => {
  let seeds: TimedSeeds
  let ledger: ProcessLedger
  let requests = 0
  beforeEach(() => {
    vi.useFakeTimers()
    seeds = new TimedSeeds()
    ledger = new ProcessLedger({ owner: 'test', seeds, onThresholdCrossed: () => {}, openedAt: T })
  })
  afterEach(() => vi.useRealTimers())

  /** Reserves on a new counter. Resolves with how long it took, in milliseconds, and whether it was admitted. */
  const reserve = async (orgId: string, at = T) => {
    const startedAt = performance.now()
    const key = `budget ${++requests}`
    const meters = [makeMeter('budget', 10, { key, subject: { orgId } })]
    const { isAdmitted } = await ledger.reserve(toRequest(key, meters, { at }))
    if (isAdmitted) expect(await ledger.read(meters, at)).toMatchObject([{ settled: 3 }])
    return { isAdmitted, tookMs: performance.now() - startedAt }
  }
  const after = async <Result>(ms: number, pending: Promise<Result>): Promise<Result> => {
    await vi.advanceTimersByTimeAsync(ms)
    return await pending
  }

  test('share one read: a thousand wait no longer than one', async () => {
    const verdicts = Promise.all(Array.from({ length: 1_000 }, (_, index) => reserve(`org ${index}`)))
    const times = await after(10_000, verdicts)
    expect(times.every(({ isAdmitted }) => isAdmitted)).toBe(true)
    expect(Math.max(...times.map(({ tookMs }) => tookMs))).toBeLessThanOrEqual(2 * FAST_MS)
    expect(seeds.reads.map(({ orgIds }) => orgIds.length)).toEqual([1_000])
  })

  test('that come during a read share the next one', async () => {
    const first = reserve('a')
    await vi.advanceTimersByTimeAsync(1)
    const others = [reserve('b'), reserve('c'), reserve('b')]
    expect((await after(100, Promise.all([first, ...others]))).every(({ isAdmitted }) => isAdmitted)).toBe(
      true,
    )
    expect(seeds.reads.map(({ orgIds }) => orgIds)).toEqual([['a'], ['b', 'c']])
  })

  test('wait once for slow ones, until those are found by halves; slow ones are read alone, for as long as they need', async () => {
    for (const orgId of ['slow 1', 'slow 2']) seeds.latencyOf.set(orgId, 20_000)
    const slow = [reserve('slow 1'), reserve('slow 2')]
    const others = Promise.all(['a', 'b', 'c'].map(orgId => reserve(orgId)))
    // Until the shared read has failed, and then the half with the slow ones.
    for (const { isAdmitted, tookMs } of await after(3_600, others)) {
      expect([isAdmitted, tookMs]).toEqual([true, 2_000 + 500 + FAST_MS])
    }
    // Both slow ones are read now. Other reads have places of their own.
    expect(seeds.running).toBe(2)
    const later = await after(1_000, Promise.all(['d', 'a'].map(orgId => reserve(orgId))))
    for (const { isAdmitted, tookMs } of later) expect([isAdmitted, tookMs]).toEqual([true, FAST_MS])
    expect((await after(25_000, Promise.all(slow))).every(({ isAdmitted }) => isAdmitted)).toBe(true)
  })

  test('a thousand that share a read with a slow one wait for some short timeouts, and most of them for two', async () => {
    seeds.latencyOf.set('org 700', 20_000)
    const verdicts = Promise.all(Array.from({ length: 1_000 }, (_, index) => reserve(`org ${index}`)))
    const all = (await after(30_000, verdicts)).map(({ isAdmitted, tookMs }, index) => ({
      isAdmitted,
      tookMs,
      index,
    }))
    expect(all.every(({ isAdmitted }) => isAdmitted)).toBe(true)
    const times = all.filter(({ index }) => index !== 700).map(({ tookMs }) => tookMs)
    expect(Math.max(...times)).toBeLessThan(2_000 + 10 * (500 + 2 * FAST_MS))
    expect(times.filter(tookMs => tookMs <= 2_000 + 2 * (500 + FAST_MS)).length).toBeGreaterThan(700)
  })

  test('that were slow share no read until a short one was enough, also when they are asked again a minute later', async () => {
    seeds.latencyOf.set('slow', 30_000)
    expect(await after(60_000, reserve('slow'))).toMatchObject({ isAdmitted: false })
    const timeouts = [2_000, 25_000]
    expect(seeds.reads.map(({ timeoutMs }) => timeoutMs)).toEqual(timeouts)

    seeds.reads.splice(0)
    const again = reserve('slow', T + 59_999)
    const other = reserve('other')
    expect(await after(60_000, other)).toEqual({ isAdmitted: true, tookMs: FAST_MS })
    expect(await again).toMatchObject({ isAdmitted: false })
    expect(seeds.reads).toEqual([
      { orgIds: ['slow'], timeoutMs: 25_000 },
      { orgIds: ['other'], timeoutMs: 2_000 },
    ])

    seeds.reads.splice(0)
    expect(await after(60_000, reserve('slow', T + 60_000))).toMatchObject({ isAdmitted: false })
    expect(seeds.reads.map(({ timeoutMs }) => timeoutMs)).toEqual([500, 25_000])

    seeds.reads.splice(0)
    seeds.latencyOf.delete('slow')
    for (const at of [T + 120_000, T + 120_001]) {
      expect(await after(1_000, reserve('slow', at))).toEqual({ isAdmitted: true, tookMs: FAST_MS })
    }
    expect(seeds.reads.map(({ timeoutMs }) => timeoutMs)).toEqual([500, 2_000])
  })

  const reserveMany = (orgId: string) =>
    Array.from({ length: 100 }, (_, user) => {
      const meters = Array.from({ length: 50 }, (_, index) =>
        makeMeter('budget', 10, { key: `${user} ${index}`, subject: { orgId } }),
      )
      return ledger.reserve(toRequest(`${orgId} ${user}`, meters))
    })

  test('take at most 2,000 rows of one organization, whose other rows are seeded by the next reads', async () => {
    const many = reserveMany('many')
    const others = [reserve('a'), reserve('b')]
    const verdicts = await after(1_000, Promise.all([...many, ...others]))
    expect(verdicts.every(({ isAdmitted }) => isAdmitted)).toBe(true)
    expect(seeds.counts).toEqual([{ many: 2_000, a: 1, b: 1 }, { many: 2_000 }, { many: 1_000 }])
  })

  test('leave no row of an organization behind when one of its reads fails', async () => {
    seeds.latencyOf.set('many', 30_000)
    const verdicts = await after(60_000, Promise.all(reserveMany('many')))
    expect(verdicts.some(({ isAdmitted }) => isAdmitted)).toBe(false)
    expect(ledger.rowCount).toBe(0)
  })

  test('take four connections at most, of which slow ones have two', async () => {
    const slow = Array.from({ length: 10 }, (_, index) => `slow ${index}`)
    for (const orgId of slow) seeds.latencyOf.set(orgId, 20_000)
    const verdicts = [...slow.map(orgId => reserve(orgId))]
    for (let fast = 0; fast < 1_000; fast++) {
      verdicts.push(reserve(`fast ${fast}`))
      await vi.advanceTimersByTimeAsync(FAST_MS)
    }
    expect(seeds.running).toBeGreaterThanOrEqual(2)
    expect((await after(120_000, Promise.all(verdicts))).every(({ isAdmitted }) => isAdmitted)).toBe(true)
    expect(seeds.mostRunning).toBe(4)
  })

  test('are given up together, after one read, if the database cannot be asked', async () => {
    const asked: number[] = []
    seeds.read = async meters => {
      asked.push(meters.length)
      throw new Error('the database is unreachable')
    }
    const verdicts = await Promise.all(['a', 'b', 'c'].map(orgId => reserve(orgId)))
    expect(verdicts.map(({ isAdmitted }) => isAdmitted)).toEqual([false, false, false])
    expect(asked).toEqual([3])
  })
})

describe('long seeds', () => {
  const COUNT = 11_201
  const entries = Array.from({ length: COUNT }, (_, at) => ({ at: T - COUNT + at, amount: 1 }))
  const meters = Array.from({ length: 50 }, (_, index) =>
    makeMeter('rate', 2 * COUNT, { key: `rate ${index}`, windowMs: 3_600_000 }),
  )
  const open = () => {
    const seeds: SeedSource = {
      async read(asked, _at, onSnapshot) {
        onSnapshot(new Set())
        return asked.map(({ kind }) =>
          kind === 'rolling' ? { used: COUNT, entries } : { used: 3, entries: [] },
        )
      },
    }
    return new ProcessLedger({ owner: 'test', seeds, onThresholdCrossed: () => {}, openedAt: T })
  }

  test('are given to their counters in many ticks, count what ends meanwhile once, and admit nobody before', async () => {
    const ledger = open()
    for (let index = 0; index < 10; index++) ledger.reserve(toRequest(`old ${index}`, []))
    const verdict = ledger.reserve(toRequest('first', meters))
    let isSeeded = false
    void Promise.resolve(verdict).then(() => (isSeeded = true))
    const others: (Verdict | Promise<Verdict>)[] = []
    for (let index = 0; index < 10; index++) {
      await new Promise(resolve => setImmediate(resolve))
      expect(isSeeded).toBe(false)
      ledger.settle(`old ${index}`, toUsage())
      others.push(ledger.reserve(toRequest(`other ${index}`, meters.slice(0, 1))))
    }
    expect(await verdict).toMatchObject({ isAdmitted: true })
    for (const other of others) {
      expect(other).toBeInstanceOf(Promise)
      expect(await other).toMatchObject({ isAdmitted: true })
    }
    const [counted] = (await ledger.read(meters, T)) ?? []
    expect(counted).toMatchObject({ settled: COUNT + 10, reserved: 11 })
  })
  test('delay no other organization, neither of the same read nor of the next one', async () => {
    const ledger = open()
    const reserve = (name: string, asked: readonly Meter[]) => {
      const state = { isOver: false }
      void Promise.resolve(ledger.reserve(toRequest(name, asked))).then(() => (state.isOver = true))
      return state
    }
    const short = (orgId: string) => [makeMeter('budget', 10, { key: orgId, subject: { orgId } })]
    const long = reserve('long', meters)
    const same = reserve('same', short('org 2'))
    for (let tick = 0; tick < 5; tick++) await new Promise(resolve => setImmediate(resolve))
    const next = reserve('next', short('org 3'))
    for (let tick = 0; tick < 5; tick++) await new Promise(resolve => setImmediate(resolve))
    expect([same, next, long].map(({ isOver }) => isOver)).toEqual([true, true, false])
    await vi.waitFor(() => expect(long.isOver).toBe(true))
  })
})
