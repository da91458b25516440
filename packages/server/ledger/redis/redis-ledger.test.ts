import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeLedger } from '../../testing/harness/ledger-suite.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { RedisLedger } from './redis-ledger.ts'

describe.skipIf(redisProgram === undefined)('limits over Redis', () => {
  let redis: TestRedis
  let admin: Redis
  beforeAll(async () => {
    redis = await startTestRedis()
    admin = new Redis(redis.url)
  })
  afterAll(async () => {
    admin.disconnect()
    await redis.stop()
  })

  let opened = 0

  describeLedger('on Redis', async ({ seeds, onCrossing }) => {
    // All counters are new, as the suite asks.
    await admin.flushall()
    const ledger = new RedisLedger({
      url: redis.url,
      owner: `suite ${opened++}`,
      seeds,
      onCrossing,
      log: () => {},
      now: Date.now,
      isTimeGiven: true,
      countProcesses: async () => 1,
      drain: async () => {},
      commandTimeoutMs: 10_000,
    })
    await ledger.whenOpen(5000)
    return { ledger, close: () => ledger.close() }
  })
})
