import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { RedisLedger, RedisLedgerOptions } from '../redis/redis-ledger.ts'
import { openRedisLedger } from './open-redis-ledger.ts'

/** A Redis server of a suite. */
export interface RedisSuite {
  /** The server's address, once it runs: from the first test on. */
  url(): string
  /** A client that looks at the keys. */
  admin(): Redis
  /** Opens a ledger without counters, which counts by the times that calls give. */
  openNew(options?: Partial<RedisLedgerOptions>): Promise<RedisLedger>
}

/** Defines tests on a Redis server of their own, which are skipped where none is installed. `subject`: what they are about. */
export function describeOnRedis(subject: string, define: (suite: RedisSuite) => void): void {
  describe.skipIf(redisProgram === undefined)(`${subject}, on Redis`, () => {
    let redis: TestRedis
    let admin: Redis
    let opened = 0
    beforeAll(async () => {
      redis = await startTestRedis()
      admin = new Redis(redis.url)
    })
    afterAll(async () => {
      admin.disconnect()
      await redis.stop()
    })
    define({
      url: () => redis.url,
      admin: () => admin,
      async openNew(options = {}) {
        await admin.flushall()
        return openRedisLedger({
          url: redis.url,
          owner: `process ${opened++}`,
          isTimeGiven: true,
          ...options,
        })
      },
    })
  })
}
