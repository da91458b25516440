import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { CENT, type GatewayProcess, GatewayProcesses } from '../testing/gateway-processes.ts'
import { makeMeter, toUsage } from '../testing/make-meter.ts'

type OneProcess = [GatewayProcess]
type TwoProcesses = [GatewayProcess, GatewayProcess]

describe.skipIf(redisProgram === undefined)('limits while Redis is unreachable', () => {
  let redis: TestRedis
  let processes: GatewayProcesses

  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(() => {
    processes = new GatewayProcesses()
  })
  afterEach(async () => {
    await redis.kill()
    await processes.close()
    await redis.start()
  })

  const open = (count: number, isFailOpen = false): Promise<GatewayProcess[]> =>
    processes.open(count, { url: redis.url, isFailOpen })

  test('a budget refuses as unavailable, never as exceeded; each process counts rates alone', async () => {
    const [first, second] = (await open(2)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    const rate = makeMeter('rate', 2)
    expect((await first.reserve('a', [budget, rate], 50)).isAdmitted).toBe(true)
    await redis.kill()
    await processes.untilLost()
    expect(await first.reserve('b', [budget, rate], 1)).toEqual({
      isAdmitted: false,
      unavailable: expect.stringContaining('counts the limits'),
    })
    for (const [index, process] of [first, second].entries()) {
      expect((await process.reserve(`${index} one`, [rate])).isAdmitted).toBe(true)
      expect((await process.reserve(`${index} two`, [rate])).isAdmitted).toBe(true)
      expect(await process.reserve(`${index} three`, [rate])).toMatchObject({
        isAdmitted: false,
        refusal: { settled: 0, reserved: 2 },
      })
    }
    expect(first.ledger.localAdmissionCount).toBe(2)
    expect(first.ledger.health().reasons.join()).toContain('limit on money concerns are refused')
    await redis.start()
    await processes.untilShared()
  })

  test('a restarted, empty server is seeded: with what was spent, what ended meanwhile and what is running', async () => {
    const [first, second] = (await open(2)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('spent', [budget], 20)
    await first.end('spent', 15)
    await first.reserve('runs here', [budget], 10)
    await second.reserve('runs there', [budget], 30)
    await second.reserve('ends meanwhile', [budget], 20)
    expect(await first.read(budget)).toEqual({ settled: 15, reserved: 60 })
    await redis.kill()
    await second.end('ends meanwhile', 18)
    await redis.start()
    await processes.untilShared()
    expect(await first.read(budget)).toEqual({ settled: 33, reserved: 40 })
    expect((await first.reserve('too much', [budget], 28)).isAdmitted).toBe(false)
    expect((await first.reserve('fits', [budget], 27)).isAdmitted).toBe(true)
    await second.end('runs there', 25)
    await first.end('runs here', 10)
    await first.ledger.release('fits')
    expect(await second.read(budget)).toEqual({ settled: 68, reserved: 0 })
  })

  test('a counter that is created later counts what ended a moment ago once, stored or not', async () => {
    const [first, second] = (await open(2)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('stored', [])
    await first.end('stored', 15)
    await second.reserve('not stored', [])
    await second.ledger.settle('not stored', toUsage({ nanoUsd: 5 * CENT }))
    await second.reserve('runs', [], 30)
    expect(await first.read(budget)).toEqual({ settled: 20, reserved: 30 })
    await second.end('runs', 10)
    expect(await first.read(budget)).toEqual({ settled: 30, reserved: 0 })
  })

  test('a server that comes back with an old snapshot is not trusted', async () => {
    const [first] = (await open(1)) as OneProcess
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('a', [budget], 20)
    await first.end('a', 20)
    const admin = new Redis(redis.url)
    const keys = await admin.keys('*')
    const old = await Promise.all(keys.map(async key => [key, await admin.dumpBuffer(key)] as const))
    await first.reserve('b', [budget], 60)
    await first.end('b', 60)
    admin.disconnect()
    await redis.kill()
    await redis.start()
    const again = new Redis(redis.url)
    for (const [key, value] of old) await again.restore(key, 0, value as Buffer)
    again.disconnect()
    await processes.untilShared()
    expect(await first.read(budget)).toEqual({ settled: 80, reserved: 0 })
  })

  test('a server that is flushed while it runs is noticed before a counter is taken for a new one', async () => {
    const [first] = (await open(1)) as OneProcess
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('a', [budget], 20)
    await first.end('a', 20)
    await first.reserve('b', [budget], 60)
    const admin = new Redis(redis.url)
    await admin.flushall()
    admin.disconnect()
    expect((await first.reserve('c', [budget], 30)).isAdmitted).toBe(false)
    await processes.untilShared()
    expect(await first.read(budget)).toEqual({ settled: 20, reserved: 60 })
    expect((await first.reserve('d', [budget], 30)).isAdmitted).toBe(false)
    expect((await first.reserve('e', [budget], 20)).isAdmitted).toBe(true)
  })

  test('a server that hangs delays no request beyond one timeout, and what it does late reserves nothing', async () => {
    const [first, second] = (await open(2)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('before', [budget], 10)
    await second.reserve('other', [budget], 10)
    process.kill(redis.pid(), 'SIGSTOP')
    try {
      // These end while the server still hangs: that is the bound.
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, (_, index) => first.reserve(`h${index}`, [budget], 1)),
      )
      expect(verdicts.every(verdict => 'unavailable' in verdict)).toBe(true)
      expect(await first.reserve('later', [budget], 1)).toHaveProperty('unavailable')
      await first.end('before', 7)
      await processes.untilLost()
    } finally {
      process.kill(redis.pid(), 'SIGCONT')
    }
    await processes.untilShared()
    await expect.poll(() => second.read(budget)).toEqual({ settled: 7, reserved: 10 })
    expect((await first.reserve('after', [budget], 83)).isAdmitted).toBe(true)
  })

  test('a running stream keeps what it has reserved and cannot reserve more', async () => {
    const [first] = (await open(1)) as OneProcess
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('a', [budget], 10)
    await redis.kill()
    await processes.untilLost()
    expect((await first.extend('a', 10)).isAdmitted).toBe(true)
    expect(await first.extend('a', 11)).toHaveProperty('unavailable')
    await redis.start()
    await processes.untilShared()
    expect((await first.extend('a', 11)).isAdmitted).toBe(true)
    expect(await first.read(budget)).toEqual({ settled: 0, reserved: 11 })
  })

  test('what each process admitted alone counts for all when the server is back, ended or not', async () => {
    const [first, second] = (await open(2, true)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    const rate = makeMeter('rate', 10)
    const requests = async (): Promise<number> => {
      const [status] = (await first.ledger.read([rate], Date.now())) ?? []
      return (status?.settled ?? 0) + (status?.reserved ?? 0)
    }
    await first.reserve('before', [budget, rate], 10)
    // The server restarts: all counters are seeded again.
    await redis.kill()
    await processes.untilLost()
    await first.reserve('ends', [budget, rate], 20)
    await second.reserve('runs', [budget, rate], 30)
    await first.end('ends', 15)
    await redis.start()
    await processes.untilShared()
    expect(await first.read(budget)).toEqual({ settled: 15, reserved: 40 })
    expect(await requests()).toBe(3)
    // The server stops answering for a moment: its counters continue.
    process.kill(redis.pid(), 'SIGSTOP')
    await processes.untilLost()
    await first.reserve('ends too', [budget, rate], 5)
    await second.reserve('runs too', [budget, rate], 1)
    await first.end('ends too', 4)
    process.kill(redis.pid(), 'SIGCONT')
    await processes.untilShared()
    await expect.poll(() => first.read(budget)).toEqual({ settled: 19, reserved: 41 })
    await expect.poll(requests).toBe(5)
    await second.end('runs', 30)
    await second.end('runs too', 1)
    await first.end('before', 10)
    expect(await first.read(budget)).toEqual({ settled: 60, reserved: 0 })
  })

  test('what a process admits alone because the server hangs is counted there as soon as it answers', async () => {
    const [first, second] = (await open(2, true)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await second.reserve('before', [budget], 10)
    process.kill(redis.pid(), 'SIGSTOP')
    // The reservation's own command is the first that fails.
    expect((await first.reserve('runs', [budget], 20)).isAdmitted).toBe(true)
    process.kill(redis.pid(), 'SIGCONT')
    await processes.untilShared()
    await expect.poll(() => second.read(budget)).toEqual({ settled: 0, reserved: 30 })
    expect((await first.extend('runs', 25)).isAdmitted).toBe(true)
    await first.end('runs', 24)
    expect(await second.read(budget)).toEqual({ settled: 24, reserved: 10 })
  })

  test('what a process admits alone once the server has withdrawn its reservation is counted there too', async () => {
    const [first, second] = (await open(2, true)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await second.reserve('before', [budget], 10)
    const { database } = processes
    let readSeed = (): void => {}
    database.beforeSnapshot = () => new Promise(resolve => void (readSeed = resolve))
    process.kill(redis.pid(), 'SIGSTOP')
    const verdict = first.reserve('runs', [budget], 20)
    await expect.poll(() => database.reads.length).toBe(2)
    process.kill(redis.pid(), 'SIGCONT')
    await processes.untilShared()
    expect(await second.read(budget)).toEqual({ settled: 0, reserved: 10 })
    const admin = new Redis(redis.url)
    expect(await admin.keys('*:mark:*')).toHaveLength(1)
    readSeed()
    expect((await verdict).isAdmitted).toBe(true)
    await expect.poll(() => second.read(budget)).toEqual({ settled: 0, reserved: 30 })
    expect(await admin.keys('*:mark:*')).toEqual([])
    admin.disconnect()
    await first.end('runs', 24)
    expect(await second.read(budget)).toEqual({ settled: 24, reserved: 10 })
  })

  test('what a process admits alone while it waits for others to join a run is counted there', async () => {
    const budget = makeMeter('budget', 100 * CENT)
    // Two are expected, and one of them never joins.
    const options = { url: redis.url, isFailOpen: true, countProcesses: async () => 2, joinTimeoutMs: 500 }
    const [first] = (await processes.open(1, options)) as OneProcess
    await first.reserve('before', [budget], 10)
    await redis.kill()
    await processes.untilLost()
    await redis.start()
    const admin = new Redis(redis.url)
    await expect.poll(() => admin.keys('*:members')).toHaveLength(1)
    admin.disconnect()
    expect((await first.reserve('alone', [budget], 20)).isAdmitted).toBe(true)
    await processes.untilShared()
    await expect.poll(() => first.read(budget)).toEqual({ settled: 0, reserved: 30 })
    await first.end('alone', 15)
    expect(await first.read(budget)).toEqual({ settled: 15, reserved: 10 })
  })

  test('an outage in which very many requests end begins another run, with what PostgreSQL knows of them', async () => {
    const [first, second] = (await open(2, true)) as TwoProcesses
    const budget = makeMeter('budget', 1_000_000 * CENT)
    await first.reserve('runs here', [budget], 10)
    await second.reserve('runs there', [budget], 20)
    process.kill(redis.pid(), 'SIGSTOP')
    await processes.untilLost()
    for (let index = 0; index < 10_100; index++) {
      await first.reserve(`r${index}`, [budget], 1)
      await first.end(`r${index}`, 1)
    }
    await second.reserve('alone', [budget], 5)
    process.kill(redis.pid(), 'SIGCONT')
    await processes.untilShared()
    expect(processes.lines.filter(line => line.includes('counted anew'))).toHaveLength(1)
    for (const each of [first, second])
      await expect.poll(() => each.read(budget), { timeout: 5000 }).toEqual({ settled: 10_100, reserved: 35 })
    await first.end('runs here', 10)
    await second.end('runs there', 20)
    await second.end('alone', 5)
    for (const each of [first, second])
      expect(await each.read(budget)).toEqual({ settled: 10_135, reserved: 0 })
  })

  test('with RIDEAU_LIMITS_FAILOPEN each process counts budgets alone too', async () => {
    const [first, second] = (await open(2, true)) as TwoProcesses
    const budget = makeMeter('budget', 100 * CENT)
    await first.reserve('spent', [budget], 40)
    await first.end('spent', 40)
    await redis.kill()
    await processes.untilLost()
    for (const each of [first, second]) {
      expect(await each.reserve(`too much`, [budget], 61)).toMatchObject({ refusal: { settled: 40 * CENT } })
      expect((await each.reserve('fits', [budget], 60)).isAdmitted).toBe(true)
    }
    await redis.start()
    await processes.untilShared()
    await first.end('fits', 60)
  })
})
