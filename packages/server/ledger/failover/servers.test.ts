import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import restoreReservation from '../redis/restore-reservation.lua?raw'
import { CENT, type GatewayProcess, GatewayProcesses } from '../testing/gateway-processes.ts'
import { makeMeter } from '../testing/make-meter.ts'
import { RedisProxy } from '../testing/redis-proxy.ts'

type OneProcess = [GatewayProcess]
type TwoProcesses = [GatewayProcess, GatewayProcess]

describe.skipIf(redisProgram === undefined)('limits on a Redis server that fails', () => {
  let primary: TestRedis
  let replica: TestRedis
  let proxy: RedisProxy
  let processes: GatewayProcesses
  const budget = makeMeter('budget', 100 * CENT)

  beforeEach(async () => {
    ;[primary, replica] = await Promise.all([startTestRedis(), startTestRedis()])
    proxy = await RedisProxy.open(primary.url)
    processes = new GatewayProcesses()
  })
  afterEach(async () => {
    await processes.close()
    proxy.close()
    await Promise.all([primary.stop(), replica.stop()])
  })

  const onServer = async <T>(server: TestRedis, use: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(server.url)
    try {
      return await use(client)
    } finally {
      client.disconnect()
    }
  }

  test('count what was spent and what is running after a failover to a replica', async () => {
    await onServer(replica, client => client.call('REPLICAOF', '127.0.0.1', new URL(primary.url).port))
    const [first, second] = (await processes.open(2, { url: proxy.url })) as TwoProcesses
    await first.reserve('spent', [budget], 20)
    await first.end('spent', 20)
    await second.reserve('runs', [budget], 30)
    const isSynchronized = async (): Promise<boolean> =>
      await onServer(replica, async client => (await client.keys('*:reservations')).length > 0)
    await expect.poll(isSynchronized, { timeout: 10_000 }).toBe(true)
    await first.reserve('spent later', [budget], 15)
    await first.end('spent later', 15)
    await primary.kill()
    await onServer(replica, client => client.call('REPLICAOF', 'NO', 'ONE'))
    proxy.switchTo(replica.url)
    await processes.untilShared()
    expect(await second.read(budget)).toEqual({ settled: 35, reserved: 30 })
    expect((await first.reserve('too much', [budget], 36)).isAdmitted).toBe(false)
    expect((await first.reserve('fits', [budget], 35)).isAdmitted).toBe(true)
    await second.end('runs', 25)
    expect(await first.read(budget)).toEqual({ settled: 60, reserved: 35 })
  })

  test('refuse budgets while the server is a replica that accepts no writes, and count again afterwards', async () => {
    const [first] = (await processes.open(1, { url: proxy.url })) as OneProcess
    await first.reserve('spent', [budget], 20)
    await first.end('spent', 20)
    await first.reserve('runs', [budget], 30)
    await onServer(primary, client => client.call('REPLICAOF', '127.0.0.1', new URL(replica.url).port))
    await processes.untilLost()
    expect(await first.reserve('refused', [budget], 1)).toHaveProperty('unavailable')
    await onServer(primary, client => client.call('REPLICAOF', 'NO', 'ONE'))
    await processes.untilShared()
    expect(await first.read(budget)).toEqual({ settled: 20, reserved: 30 })
  })

  test('refuse budgets while replies take longer than the timeout; what was admitted late is released', async () => {
    const [first] = (await processes.open(1, { url: proxy.url, commandTimeoutMs: 100 })) as OneProcess
    await first.reserve('runs', [budget], 10)
    proxy.delayMs = 300
    const verdicts = await Promise.all(
      Array.from({ length: 5 }, (_, index) => first.reserve(`late ${index}`, [budget], 10)),
    )
    for (const verdict of verdicts) expect(verdict).toHaveProperty('unavailable')
    await processes.untilLost()
    await first.ledger.settle('runs', { requests: 1, tokens: 0, nanoUsd: 7 * CENT, isSandbox: false })
    proxy.delayMs = 0
    await processes.untilShared()
    await expect.poll(() => first.read(budget)).toEqual({ settled: 7, reserved: 0 })
    expect(processes.lines.join()).toContain('limits are not counted on Redis any more')
    expect(processes.lines.at(-1)).toBe('limits are counted on Redis')
  })

  test('never exceed a budget, and agree with the usage records, while the server restarts again and again', async () => {
    const both = (await processes.open(2, { url: primary.url })) as TwoProcesses
    let isRunning = true
    let admitted = 0
    /** No restart may find the budget used up: a fast server would admit all of it before the first one. */
    let maxAdmitted = 0
    const spend = async (process: GatewayProcess, name: string): Promise<void> => {
      for (let index = 0; isRunning; index++) {
        const id = `${name} ${index}`
        const verdict = admitted < maxAdmitted ? await process.reserve(id, [budget], 1) : undefined
        if (verdict?.isAdmitted !== true) {
          await new Promise(resolve => setImmediate(resolve))
          continue
        }
        admitted++
        // Some are given up before a provider was asked.
        if (index % 3 === 0) await process.ledger.release(id)
        else await process.end(id, 1)
      }
    }
    const spending = both.flatMap((process, index) =>
      [0, 1].map(worker => spend(process, `${index}/${worker}`)),
    )
    for (let restart = 0; restart < 3; restart++) {
      const before = admitted
      maxAdmitted += 30
      await expect.poll(() => admitted, { timeout: 10_000 }).toBeGreaterThan(before + 5)
      await primary.kill()
      await processes.untilLost()
      await primary.start()
      await processes.untilShared()
    }
    maxAdmitted = Number.POSITIVE_INFINITY
    await expect
      .poll(() => processes.database.total(({ nanoUsd }) => nanoUsd), { timeout: 10_000 })
      .toBe(100 * CENT)
    isRunning = false
    await Promise.all(spending)
    for (const process of both) {
      await expect.poll(() => process.read(budget)).toEqual({ settled: 100, reserved: 0 })
    }
    expect(processes.database.total(({ nanoUsd }) => nanoUsd)).toBe(100 * CENT)
  })

  describe('restore, although the connection is lost meanwhile,', () => {
    /** The first call of a script on a connection carries its text. */
    const RESTORE = restoreReservation.slice(0, restoreReservation.indexOf('\n'))
    let ledger: GatewayProcess
    beforeEach(async () => {
      ;[ledger] = (await processes.open(1, { url: proxy.url, isFailOpen: true })) as OneProcess
      await ledger.reserve('before', [budget], 10)
    })

    test('a running request, on a server that has lost its data', async () => {
      await primary.kill()
      await processes.untilLost()
      proxy.cutOn = RESTORE
      await primary.start()
      await processes.untilShared()
      expect(proxy.cutOn).toBeUndefined()
      expect(await ledger.read(budget)).toEqual({ settled: 0, reserved: 10 })
    })

    test('a request that was admitted alone while counting began again', async () => {
      const { database } = processes
      let readSeed = (): void => {}
      database.beforeSnapshot = () => new Promise(resolve => void (readSeed = resolve))
      process.kill(primary.pid(), 'SIGSTOP')
      const verdict = ledger.reserve('alone', [budget], 20)
      await expect.poll(() => database.reads.length).toBe(2)
      process.kill(primary.pid(), 'SIGCONT')
      await processes.untilShared()
      proxy.cutOn = RESTORE
      readSeed()
      expect((await verdict).isAdmitted).toBe(true)
      await processes.untilLost()
      await processes.untilShared()
      expect(await ledger.read(budget)).toEqual({ settled: 0, reserved: 30 })
    })

    test('a request that was admitted alone and has ended', async () => {
      process.kill(primary.pid(), 'SIGSTOP')
      await processes.untilLost()
      expect((await ledger.reserve('alone', [budget], 20)).isAdmitted).toBe(true)
      await ledger.end('alone', 15)
      proxy.cutOn = RESTORE
      process.kill(primary.pid(), 'SIGCONT')
      await processes.untilShared()
      expect(proxy.cutOn).toBeUndefined()
      expect(await ledger.read(budget)).toEqual({ settled: 15, reserved: 10 })
    })
  })
})
