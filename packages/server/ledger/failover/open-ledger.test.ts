import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { ServedLedger } from '../socket/ledger-session.ts'
import { CALLER, makeMeter, openSeeds, toRequest, toUsage } from '../testing/make-meter.ts'
import { UsageDatabase } from '../testing/usage-database.ts'
import { type OpenedLedger, type OpenLedgerOptions, openLedger } from './open-ledger.ts'

/** No server listens on this port. */
const UNREACHABLE = 'redis://127.0.0.1:1'

describe('the ledger of a process', () => {
  const lines: string[] = []
  let opened: OpenedLedger | undefined
  afterEach(async () => {
    await opened?.ledger.close()
    lines.splice(0)
  })

  const open = async (options: Partial<OpenLedgerOptions>): Promise<OpenedLedger> => {
    opened = await openLedger({
      redisUrl: undefined,
      isFailOpen: false,
      owner: 'test',
      seeds: openSeeds(),
      onThresholdCrossed: () => {},
      now: Date.now,
      log: line => void lines.push(line),
      countProcesses: async () => 1,
      drain: async () => {},
      startTimeoutMs: 20,
      ...options,
    })
    return opened
  }
  const now = (): number => Date.now()

  test('without Redis counts in memory, synchronously, and is always healthy', async () => {
    const { ledger, countReservations, countLocalAdmissions } = await open({})
    const meters = [makeMeter('rate', 1, { since: now() }), makeMeter('concurrency', 1)]
    expect(ledger.reserve(toRequest('a', meters, { at: now() }))).toMatchObject({ isAdmitted: true })
    expect(ledger.health()).toEqual({ isHealthy: true, reasons: [] })
    expect([countReservations(), countLocalAdmissions()]).toEqual([1, 0])
    await ledger.settle('a', toUsage())
    expect(countReservations()).toBe(0)
    expect(lines).toEqual([])
  })

  test('starts although Redis is unreachable, and health names the consequence', async () => {
    const { ledger, countLocalAdmissions } = await open({ redisUrl: UNREACHABLE })
    expect(lines).toEqual([
      expect.stringMatching(/^limits are not counted on Redis yet: Redis, which counts/),
    ])
    expect(ledger.health()).toEqual({
      isHealthy: false,
      reasons: [
        expect.stringContaining('Redis, which counts the limits'),
        'requests that a limit on money concerns are refused, and each process counts other limits alone',
      ],
    })
    const rate = makeMeter('rate', 1)
    const reserve = (id: string, kind: typeof rate) => ledger.reserve(toRequest(id, [kind], { at: now() }))
    expect(await reserve('priced', makeMeter('budget', 100))).toHaveProperty('unavailable')
    expect(await reserve('first', rate)).toMatchObject({ isAdmitted: true })
    expect(await reserve('second', rate)).toMatchObject({ isAdmitted: false, refusal: { reserved: 1 } })
    expect(countLocalAdmissions()).toBe(1)
  })

  test('serves requests under a budget too if it fails open, and health names that', async () => {
    const { ledger } = await open({ redisUrl: UNREACHABLE, isFailOpen: true })
    const budget = makeMeter('budget', 100)
    const amounts = { tokens: 0, nanoUsd: 60 }
    const reserve = (id: string) => ledger.reserve(toRequest(id, [budget], { at: now(), amounts }))
    expect(await reserve('a')).toMatchObject({ isAdmitted: true })
    expect(await reserve('b')).toMatchObject({ isAdmitted: false, refusal: { reserved: 60 } })
    expect(ledger.health().reasons.at(-1)).toBe('each process counts all limits alone')
  })

  test('ends, extends, reads and expires what it admitted alone', async () => {
    const { ledger, countReservations } = await open({ redisUrl: UNREACHABLE, isFailOpen: true })
    const budget = makeMeter('budget', 100)
    const at = now()
    for (const id of ['settled', 'released', 'extended', 'expired']) {
      const settings = { at, amounts: { tokens: 0, nanoUsd: 10 }, leaseMs: id === 'expired' ? 1 : 60_000 }
      await ledger.reserve(toRequest(id, [budget], settings))
    }
    expect(countReservations()).toBe(4)
    await ledger.settle('settled', toUsage({ nanoUsd: 7 }))
    await ledger.release('released')
    const more = { tokens: 0, nanoUsd: 20 }
    expect(await ledger.extend('extended', more, at, 60_000)).toMatchObject({ isAdmitted: true })
    const tooMuch = { tokens: 0, nanoUsd: 100 }
    expect(await ledger.extend('extended', tooMuch, at, 60_000)).toMatchObject({ refusal: { wanted: 80 } })
    await expect.poll(() => ledger.expire(at + 2)).toBe(1)
    expect(await ledger.read([budget], at + 2)).toMatchObject([{ settled: 17, reserved: 20 }])
  })

  test.skipIf(redisProgram === undefined)('with Redis counts on Redis', async () => {
    const redis = await startTestRedis()
    const { ledger, countLocalAdmissions } = await open({ redisUrl: redis.url, startTimeoutMs: 10_000 })
    expect(await ledger.reserve(toRequest('a', [makeMeter('rate', 1)], { at: now() }))).toMatchObject({
      isAdmitted: true,
    })
    expect(ledger.health()).toEqual({ isHealthy: true, reasons: [] })
    expect(countLocalAdmissions()).toBe(0)
    expect(lines).toEqual(['limits are counted on Redis'])
    await ledger.close()
    await redis.stop()
  })

  describe.skipIf(redisProgram === undefined)('with Redis forgets what a killed worker has reserved', () => {
    const budget = makeMeter('budget', 100)
    let redis: TestRedis
    let database: UsageDatabase
    let served: OpenedLedger
    beforeEach(async () => {
      redis = await startTestRedis()
      database = new UsageDatabase()
      const options = { redisUrl: redis.url, seeds: database, isFailOpen: true, hasWorkers: true }
      served = await open({ ...options, startTimeoutMs: 10_000 })
    })
    afterEach(() => redis.stop())

    const reserve = async (id: string, owner: string): Promise<void> => {
      const ledger: ServedLedger = served.ledger
      const request = toRequest(id, [budget], { at: now(), amounts: { tokens: 0, nanoUsd: 10 } })
      expect(await ledger.reserve(request, owner)).toMatchObject({ isAdmitted: true })
    }
    /** The journal of the worker is replayed: its records are stored, then settled. */
    const recover = async (id: string, nanoUsd: number): Promise<void> => {
      const usage = toUsage({ nanoUsd })
      database.write(id, now(), usage)
      database.store()
      await served.ledger.settleRecovered([{ id, orgId: CALLER.orgId, usage }])
    }
    const untilHealthy = (isHealthy: boolean): Promise<void> =>
      vi.waitFor(() => expect(served.ledger.health().isHealthy).toBe(isHealthy), {
        timeout: 5000,
        interval: 5,
      })
    const sums = async (): Promise<unknown> =>
      (await served.ledger.read([budget], now()))?.map(({ settled, reserved }) => [settled, reserved])

    test('so that a server without data does not get it again', async () => {
      await reserve('recorded', 'worker')
      await reserve('unknown', 'worker')
      await reserve('runs', 'another worker')
      await recover('recorded', 7)
      expect(await sums()).toEqual([[7, 20]])
      expect(served.countReservations()).toBe(2)
      expect(served.expireOwner('worker')).toBe(1)
      expect(served.countReservations()).toBe(1)
      await redis.kill()
      await untilHealthy(false)
      await redis.start()
      await untilHealthy(true)
      expect(await sums()).toEqual([[7, 10]])
    })

    test('after settling what was admitted during an outage', async () => {
      await reserve('before', 'worker')
      process.kill(redis.pid(), 'SIGSTOP')
      await untilHealthy(false)
      for (const id of ['recorded', 'unknown']) await reserve(id, 'worker')
      await reserve('runs', 'another worker')
      const recovered = Promise.all([recover('before', 5), recover('recorded', 7)])
      expect(served.expireOwner('worker')).toBe(1)
      expect(served.countReservations()).toBe(1)
      // Of the local ledger: what is unknown counts what it reserved, in any other order of events too.
      expect(await sums()).toEqual([[17, 10]])
      process.kill(redis.pid(), 'SIGCONT')
      await recovered
      expect(await sums()).toEqual([[12, 10]])
    })
  })
})
