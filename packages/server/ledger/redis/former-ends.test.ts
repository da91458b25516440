import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CALLER, makeMeter, openSeeds } from '../../testing/harness/ledger-model.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { RedisLedger } from './redis-ledger.ts'

const LEASE_MS = 60_000
const AT = Date.UTC(2026, 10, 21)
const NOTHING = { requests: 0, tokens: 0, nanoUsd: 0, isSandbox: false } as const

describe.skipIf(redisProgram === undefined)('what a killed process left over Redis', () => {
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
    killed = await open('killed')
    next = await open('next')
  })
  afterEach(async () => {
    await killed.close()
    await next.close()
  })

  const open = async (owner: string): Promise<RedisLedger> => {
    const ledger = new RedisLedger({
      url: redis.url,
      owner,
      seeds: openSeeds(),
      onCrossing: () => {},
      log: () => {},
      now: Date.now,
      isTimeGiven: true,
      countProcesses: async () => 1,
      drain: async () => {},
      commandTimeoutMs: 10_000,
    })
    await ledger.whenOpen(5000)
    return ledger
  }
  const budget = makeMeter('budget', 1000)
  const tokens = makeMeter('tokens', 1000)
  const slots = makeMeter('concurrency', 10)
  const meters = [budget, tokens, slots]
  const admit = async (id: string): Promise<void> => {
    const hold = { tokens: 10, nanoUsd: 100 }
    const verdict = await killed.admit({ id, at: AT, meters, subject: CALLER, hold, leaseMs: LEASE_MS })
    expect(verdict.isAdmitted).toBe(true)
  }
  const stand = async (at = AT): Promise<[number, number][]> =>
    ((await next.read(meters, at)) ?? []).map(({ settled, held }) => [settled, held])
  const end = (id: string, nanoUsd: number, used = 3) => ({
    id,
    orgId: CALLER.orgId,
    used: { requests: 1, tokens: used, nanoUsd, isSandbox: false } as const,
  })

  test('is settled by its id, once: what it came to where that is known, else what it held', async () => {
    for (const id of ['ended', 'cut']) await admit(id)
    expect(await stand()).toEqual([
      [0, 200],
      [0, 20],
      [0, 2],
    ])
    for (let round = 0; round < 2; round++) {
      await next.settleFormer([end('ended', 7), end('cut', 100, 10), end('nobody knows it', 500)])
      expect(await stand()).toEqual([
        [107, 0],
        [13, 0],
        [0, 0],
      ])
    }
  })

  test('that never comes back is swept after its lease: slots are free, the rest counts as held', async () => {
    await admit('gone')
    expect(await stand(AT + LEASE_MS - 1)).toEqual([
      [0, 100],
      [0, 10],
      [0, 1],
    ])
    expect(await stand(AT + LEASE_MS + 1)).toEqual([
      [100, 0],
      [10, 0],
      [0, 0],
    ])
  })

  test('and comes back after it was swept is corrected', async () => {
    await admit('late')
    await next.sweep(AT + LEASE_MS + 1)
    await stand(AT + LEASE_MS + 1)
    await next.settleFormer([end('late', 7)])
    expect(await stand(AT + LEASE_MS + 2)).toEqual([
      [7, 0],
      [3, 0],
      [0, 0],
    ])
  })

  test('does not settle again what was settled or given back', async () => {
    await admit('settled')
    await admit('released')
    await killed.settle('settled', { ...NOTHING, requests: 1, nanoUsd: 5 })
    await killed.release('released')
    await next.settleFormer([end('settled', 100), end('released', 100)])
    expect(await stand()).toEqual([
      [5, 0],
      [0, 0],
      [0, 0],
    ])
  })

  test('is told as soon as the server is there again', async () => {
    await redis.kill()
    await expect.poll(() => next.health().isWhole).toBe(false)
    let isTold = false
    const telling = next.settleFormer([end('cut', 100)]).then(() => {
      isTold = true
    })
    expect(isTold).toBe(false)
    await redis.start()
    await telling
    expect(isTold).toBe(true)
  })
})
