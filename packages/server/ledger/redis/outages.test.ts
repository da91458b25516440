import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Meter, Seed } from '../../core/meter.ts'
import { CALLER, makeMeter } from '../../testing/harness/ledger-model.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { FailoverLedger } from '../failover-ledger.ts'
import type { AdmitRequest, SeedSource, Used, Verdict } from '../ledger.ts'
import { ProcessLedger } from '../process-ledger.ts'
import { defineCommands } from './commands.ts'
import { holdsOf } from './meter-args.ts'
import { RedisLedger } from './redis-ledger.ts'
import { Turns } from './turns.ts'

const CENT = 10_000_000

/** What PostgreSQL has: every request that ended, of all processes. */
class Books implements SeedSource {
  readonly #ended: { id: string; at: number; nanoUsd: number }[] = []
  asked = 0

  write(id: string, nanoUsd: number): void {
    this.#ended.push({ id, at: Date.now(), nanoUsd })
  }

  async read(
    meters: readonly Meter[],
    _at: number,
    onCut: (missing: ReadonlySet<string>) => void,
    without: readonly string[] = [],
  ): Promise<readonly Seed[]> {
    onCut(new Set())
    this.asked++
    const counted = this.#ended.filter(({ id }) => !without.includes(id))
    return meters.map(meter =>
      meter.kind === 'rolling'
        ? { used: counted.length, entries: counted.map(({ at }) => ({ at, amount: 1 })) }
        : { used: counted.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0), entries: [] },
    )
  }
}

interface Process {
  readonly ledger: FailoverLedger
  /** Admits by these meters, holding so many cents. */
  admit(id: string, meters: readonly Meter[], cents?: number): Promise<Verdict>
  /** As the gateway does: written first, then settled. */
  end(id: string, cents: number): Promise<void>
}

describe.skipIf(redisProgram === undefined)('limits while the server that counts them is away', () => {
  let redis: TestRedis
  let books: Books
  let processes: Process[]

  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(() => {
    books = new Books()
    processes = []
  })
  afterEach(async () => {
    await redis.kill()
    await Promise.all(processes.map(({ ledger }) => ledger.close()))
    await redis.start()
  })

  const open = async (count: number, isFailOpen = false): Promise<Process[]> => {
    for (let index = 0; index < count; index++) {
      const options = { owner: `process ${index}`, seeds: books, onCrossing: () => {} }
      const shared = new RedisLedger({
        ...options,
        url: redis.url,
        log: () => {},
        now: Date.now,
        isFailOpen,
        countProcesses: async () => count,
        drain: async () => {},
        heartbeatMs: 100,
      })
      const ledger = new FailoverLedger({
        shared,
        isFailOpen,
        openLocal: () => new ProcessLedger({ ...options, openedAt: Number.POSITIVE_INFINITY }),
      })
      processes.push({
        ledger,
        admit: (id, meters, cents = 0) => ledger.admit(toRequest(id, meters, cents)),
        async end(id, cents) {
          books.write(id, cents * CENT)
          const used: Used = { requests: 1, tokens: 0, nanoUsd: cents * CENT, isSandbox: false }
          await ledger.settle(id, used)
        },
      })
    }
    await untilWhole()
    return processes
  }

  const untilWhole = async (): Promise<void> => {
    for (const { ledger } of processes) {
      await expect.poll(() => ledger.health().isWhole, { timeout: 5000, interval: 10 }).toBe(true)
    }
  }
  const untilLost = async (): Promise<void> => {
    for (const { ledger } of processes) {
      await expect.poll(() => ledger.health().isWhole, { timeout: 5000, interval: 5 }).toBe(false)
    }
  }
  const stand = async (
    { ledger }: Process,
    meter: Meter,
  ): Promise<{ settled: number; held: number } | undefined> => {
    const [standing] = (await ledger.read([meter], Date.now())) ?? []
    return standing && { settled: standing.settled / CENT, held: standing.held / CENT }
  }

  test('a budget refuses as unavailable, never as exceeded; a rate is counted by each process alone', async () => {
    const [first, second] = (await open(2)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    const rate = makeMeter('rate', 2)
    expect((await first.admit('a', [budget, rate], 50)).isAdmitted).toBe(true)
    await redis.kill()
    await untilLost()
    expect(await first.admit('b', [budget, rate], 1)).toEqual({
      isAdmitted: false,
      unavailable: expect.stringContaining('counts the limits'),
    })
    for (const [index, { admit }] of [first, second].entries()) {
      expect((await admit(`${index} one`, [rate])).isAdmitted).toBe(true)
      expect((await admit(`${index} two`, [rate])).isAdmitted).toBe(true)
      expect(await admit(`${index} three`, [rate])).toMatchObject({
        isAdmitted: false,
        refused: { settled: 0, held: 2 },
      })
    }
    expect(first.ledger.aloneCount).toBe(2)
    expect(first.ledger.health().reasons.join()).toContain('limit on money concerns are refused')
    await redis.start()
    await untilWhole()
  })

  test('a restarted, empty server is seeded: what was spent, what ended meanwhile and what still runs', async () => {
    const [first, second] = (await open(2)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('spent', [budget], 20)
    await first.end('spent', 15)
    await first.admit('runs here', [budget], 10)
    await second.admit('runs there', [budget], 30)
    await second.admit('ends meanwhile', [budget], 20)
    expect(await stand(first, budget)).toEqual({ settled: 15, held: 60 })
    await redis.kill()
    await second.end('ends meanwhile', 18)
    await redis.start()
    await untilWhole()
    expect(await stand(first, budget)).toEqual({ settled: 33, held: 40 })
    expect((await first.admit('too much', [budget], 28)).isAdmitted).toBe(false)
    expect((await first.admit('fits', [budget], 27)).isAdmitted).toBe(true)
    await second.end('runs there', 25)
    await first.end('runs here', 10)
    await first.ledger.release('fits')
    expect(await stand(second, budget)).toEqual({ settled: 68, held: 0 })
  })

  test('a counter that is made later counts what ended a moment ago once, drained or not', async () => {
    const [first, second] = (await open(2)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('drained', [])
    await first.end('drained', 15)
    await second.admit('not drained', [])
    await second.ledger.settle('not drained', { requests: 1, tokens: 0, nanoUsd: 5 * CENT, isSandbox: false })
    await second.admit('runs', [], 30)
    expect(await stand(first, budget)).toEqual({ settled: 20, held: 30 })
    await second.end('runs', 10)
    expect(await stand(first, budget)).toEqual({ settled: 30, held: 0 })
  })

  test('an admission that arrives after it was given back holds nothing', async () => {
    const client = new Redis(redis.url)
    const commands = defineCommands(client)
    const holds = holdsOf('run', 'org')
    const turns = new Turns({ commands, owner: 'owner', time: () => '' })
    const budget = makeMeter('budget', 100 * CENT)
    await commands.seed(holds, '', budget.key, 5, 0, 60_000, '', '', '', '', 0, 0, 0)
    await turns.release(holds, 'late')
    const admission = await turns.admit(holds, toRequest('late', [budget], 1))
    expect(admission.values).toEqual([4])
    expect(await commands.read(holds, '', budget.key, 5, 0)).toEqual([expect.any(Number), [1, 0, 0, -1]])
    client.disconnect()
  })

  test('a server that comes back with an old snapshot is not believed', async () => {
    const [first] = (await open(1)) as [Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('a', [budget], 20)
    await first.end('a', 20)
    const admin = new Redis(redis.url)
    const keys = await admin.keys('*')
    const old = await Promise.all(keys.map(async key => [key, await admin.dumpBuffer(key)] as const))
    await first.admit('b', [budget], 60)
    await first.end('b', 60)
    admin.disconnect()
    await redis.kill()
    await redis.start()
    const again = new Redis(redis.url)
    for (const [key, value] of old) await again.restore(key, 0, value as Buffer)
    again.disconnect()
    await untilWhole()
    expect(await stand(first, budget)).toEqual({ settled: 80, held: 0 })
  })

  test('a server that is emptied while it runs is noticed before a counter is taken for new', async () => {
    const [first] = (await open(1)) as [Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('a', [budget], 20)
    await first.end('a', 20)
    await first.admit('b', [budget], 60)
    const admin = new Redis(redis.url)
    await admin.flushall()
    admin.disconnect()
    expect((await first.admit('c', [budget], 30)).isAdmitted).toBe(false)
    await untilWhole()
    expect(await stand(first, budget)).toEqual({ settled: 20, held: 60 })
    expect((await first.admit('d', [budget], 30)).isAdmitted).toBe(false)
    expect((await first.admit('e', [budget], 20)).isAdmitted).toBe(true)
  })

  test('a server that hangs keeps nobody waiting, and what it does late holds nothing', async () => {
    const [first, second] = (await open(2)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('before', [budget], 10)
    await second.admit('other', [budget], 10)
    process.kill(redis.pid(), 'SIGSTOP')
    try {
      // These end while the server still hangs: that is the bound.
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, (_, index) => first.admit(`h${index}`, [budget], 1)),
      )
      expect(verdicts.every(verdict => 'unavailable' in verdict)).toBe(true)
      expect(await first.admit('later', [budget], 1)).toHaveProperty('unavailable')
      await first.end('before', 7)
      await untilLost()
    } finally {
      process.kill(redis.pid(), 'SIGCONT')
    }
    await untilWhole()
    await expect.poll(() => stand(second, budget)).toEqual({ settled: 7, held: 10 })
    expect((await first.admit('after', [budget], 83)).isAdmitted).toBe(true)
  })

  test('a stream that runs keeps what it holds while the server is away, and cannot hold more', async () => {
    const [first] = (await open(1)) as [Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('a', [budget], 10)
    await redis.kill()
    await untilLost()
    const renew = (cents: number): Verdict | Promise<Verdict> =>
      first.ledger.extend('a', { tokens: 0, nanoUsd: cents * CENT }, Date.now(), 60_000)
    expect((await renew(10)).isAdmitted).toBe(true)
    expect(await renew(11)).toHaveProperty('unavailable')
    await redis.start()
    await untilWhole()
    expect((await renew(11)).isAdmitted).toBe(true)
    expect(await stand(first, budget)).toEqual({ settled: 0, held: 11 })
  })

  test('what was admitted by each process alone counts for all when the server is back, ended or not', async () => {
    const [first, second] = (await open(2, true)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    const rate = makeMeter('rate', 10)
    const requests = async (): Promise<number> => {
      const [standing] = (await first.ledger.read([rate], Date.now())) ?? []
      return (standing?.settled ?? 0) + (standing?.held ?? 0)
    }
    await first.admit('before', [budget, rate], 10)
    // Away for good: all is counted anew.
    await redis.kill()
    await untilLost()
    await first.admit('ends', [budget, rate], 20)
    await second.admit('runs', [budget, rate], 30)
    await first.end('ends', 15)
    await redis.start()
    await untilWhole()
    expect(await stand(first, budget)).toEqual({ settled: 15, held: 40 })
    expect(await requests()).toBe(3)
    // Away for a moment: its counters go on.
    process.kill(redis.pid(), 'SIGSTOP')
    await untilLost()
    await first.admit('ends too', [budget, rate], 5)
    await second.admit('runs too', [budget, rate], 1)
    await first.end('ends too', 4)
    process.kill(redis.pid(), 'SIGCONT')
    await untilWhole()
    await expect.poll(() => stand(first, budget)).toEqual({ settled: 19, held: 41 })
    await expect.poll(requests).toBe(5)
    await second.end('runs', 30)
    await second.end('runs too', 1)
    await first.end('before', 10)
    expect(await stand(first, budget)).toEqual({ settled: 60, held: 0 })
  })

  test('with RIDEAU_LIMITS_FAILOPEN budgets too are counted by each process alone', async () => {
    const [first, second] = (await open(2, true)) as [Process, Process]
    const budget = makeMeter('budget', 100 * CENT)
    await first.admit('spent', [budget], 40)
    await first.end('spent', 40)
    await redis.kill()
    await untilLost()
    for (const { admit } of [first, second]) {
      expect(await admit(`too much`, [budget], 61)).toMatchObject({ refused: { settled: 40 * CENT } })
      expect((await admit('fits', [budget], 60)).isAdmitted).toBe(true)
    }
    await redis.start()
    await untilWhole()
    await first.end('fits', 60)
  })
})

function toRequest(id: string, meters: readonly Meter[], cents: number): AdmitRequest {
  const hold = { tokens: 0, nanoUsd: cents * CENT }
  return { id, at: Date.now(), meters, subject: CALLER, hold, leaseMs: 60_000 }
}
