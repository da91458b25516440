import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { RecoveredSettlement } from '../ledger.ts'
import { CALLER, makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { openRedisLedger } from '../testing/open-redis-ledger.ts'
import { RecoveredSettlements } from './recovered-settlements.ts'
import type { RedisLedger } from './redis-ledger.ts'

const LEASE_MS = 60_000

describe.skipIf(redisProgram === undefined)('a reservation of a killed process', () => {
  let redis: TestRedis
  let killed: RedisLedger
  let next: RedisLedger

  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    await redis.kill()
    await redis.start()
    killed = await openRedisLedger({ url: redis.url, owner: 'killed', isTimeGiven: true })
    next = await openRedisLedger({ url: redis.url, owner: 'next', isTimeGiven: true })
  })
  afterEach(async () => {
    await killed.close()
    await next.close()
  })

  const meters = [makeMeter('budget', 1000), makeMeter('tokens', 1000), makeMeter('concurrency', 10)]
  const reserve = async (id: string): Promise<void> => {
    const amounts = { tokens: 10, nanoUsd: 100 }
    const verdict = await killed.reserve(toRequest(id, meters, { amounts, leaseMs: LEASE_MS }))
    expect(verdict.isAdmitted).toBe(true)
  }
  const sumsAt = async (at = T): Promise<[number, number][]> =>
    ((await next.read(meters, at)) ?? []).map(({ settled, reserved }) => [settled, reserved])
  const toSettlement = (id: string, nanoUsd: number, tokens = 3): RecoveredSettlement => ({
    id,
    orgId: CALLER.orgId,
    usage: toUsage({ tokens, nanoUsd }),
  })

  test('is settled once by its id: with its usage where that is known, otherwise with what it reserved', async () => {
    for (const id of ['ended', 'cut']) await reserve(id)
    expect(await sumsAt()).toEqual([
      [0, 200],
      [0, 20],
      [0, 2],
    ])
    for (let round = 0; round < 2; round++) {
      await next.settleRecovered([
        toSettlement('ended', 7),
        toSettlement('cut', 100, 10),
        toSettlement('unknown', 500),
      ])
      expect(await sumsAt()).toEqual([
        [107, 0],
        [13, 0],
        [0, 0],
      ])
    }
  })

  test('expires with its lease if it is never recovered: its slot is free, the rest counts as reserved', async () => {
    await reserve('gone')
    expect(await sumsAt(T + LEASE_MS - 1)).toEqual([
      [0, 100],
      [0, 10],
      [0, 1],
    ])
    expect(await sumsAt(T + LEASE_MS + 1)).toEqual([
      [100, 0],
      [10, 0],
      [0, 0],
    ])
  })

  test('is corrected if it is recovered after its expiry', async () => {
    await reserve('late')
    await next.expire(T + LEASE_MS + 1)
    await sumsAt(T + LEASE_MS + 1)
    await next.settleRecovered([toSettlement('late', 7)])
    expect(await sumsAt(T + LEASE_MS + 2)).toEqual([
      [7, 0],
      [3, 0],
      [0, 0],
    ])
  })

  test('is not settled again if it was settled or released before', async () => {
    await reserve('settled')
    await reserve('released')
    await killed.settle('settled', toUsage({ nanoUsd: 5 }))
    await killed.release('released')
    await next.settleRecovered([toSettlement('settled', 100), toSettlement('released', 100)])
    expect(await sumsAt()).toEqual([
      [5, 0],
      [0, 0],
      [0, 0],
    ])
  })

  test('is settled as soon as the server is reachable again', async () => {
    await redis.kill()
    await expect.poll(() => next.health().isHealthy).toBe(false)
    let isSettled = false
    const settling = next.settleRecovered([toSettlement('cut', 100)]).then(() => {
      isSettled = true
    })
    expect(isSettled).toBe(false)
    await redis.start()
    await settling
    expect(isSettled).toBe(true)
  })
})

describe('recovered settlements', () => {
  const toSettlements = (count: number): RecoveredSettlement[] =>
    Array.from({ length: count }, (_, index) => ({ id: `r${index}`, orgId: 'org', usage: toUsage() }))

  test('are sent a hundred at a time', async () => {
    let underWay = 0
    let most = 0
    const sent: string[] = []
    const queue = new RecoveredSettlements<RecoveredSettlement>(async ({ id }) => {
      most = Math.max(most, ++underWay)
      await Promise.resolve()
      underWay--
      sent.push(id)
      return true
    })
    await queue.add(toSettlements(250))
    expect(sent).toEqual(toSettlements(250).map(({ id }) => id))
    expect(most).toBe(100)
  })

  test('stop where the server is unreachable and go on from the same hundred', async () => {
    let isReachable = true
    let failures = 0
    const sent: string[] = []
    const queue = new RecoveredSettlements<RecoveredSettlement>(async ({ id }) => {
      if (isReachable) sent.push(id)
      const wasReachable = isReachable
      if (id === 'r150' && failures++ === 0) isReachable = false
      return wasReachable
    })
    let isDone = false
    const done = queue.add(toSettlements(250)).then(() => {
      isDone = true
    })
    await expect.poll(() => isReachable).toBe(false)
    queue.sendAll()
    await Promise.resolve()
    expect(isDone).toBe(false)
    isReachable = true
    queue.sendAll()
    await done
    expect(new Set(sent)).toEqual(new Set(toSettlements(250).map(({ id }) => id)))
    expect(sent.filter(id => id === 'r0')).toHaveLength(1)
  })
})
