import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { Ledger } from '../ledger.ts'
import { ProcessLedger } from '../process/process-ledger.ts'
import { openRedisLedger } from './open-redis-ledger.ts'
import { openTestSupervisor, openTestWorker } from './open-socket-ledger.ts'
import { type OpenLedger, toWithLedger, type WithLedger } from './with-ledger.ts'

/** Later than any request of a test, so that every counter is seeded. */
const NEVER = 2_000_000_000_000

const openInProcess: OpenLedger = async options => {
  const ledger = new ProcessLedger({ ...options, owner: 'test', openedAt: NEVER, isTimeGiven: true })
  return { ledger, close: () => ledger.close() }
}

const openOverSocket: OpenLedger = async options => {
  const supervisor = await openTestSupervisor(options)
  const { ledger: worker, channel } = await openTestWorker(supervisor.path, 'test')
  const ledger: Ledger = worker
  // The supervisor's timer does it for all workers.
  ledger.expire = at => supervisor.ledger.expire(at)
  const close = async (): Promise<void> => {
    await ledger.close()
    channel.close()
    await supervisor.close()
  }
  return { ledger, close }
}

/** Defines tests of the conformance suite: what a ledger guarantees wherever it keeps its counters. */
export function describeOnEachLedger(subject: string, define: (withLedger: WithLedger) => void): void {
  describe(`${subject}, in process`, () => {
    define(toWithLedger(openInProcess))
  })

  describe(`${subject}, of a worker's supervisor`, () => {
    define(toWithLedger(openOverSocket))
  })

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
    const openOnRedis: OpenLedger = async options => {
      await admin.flushall()
      const owner = `process ${opened++}`
      const ledger = await openRedisLedger({ ...options, url: redis.url, owner, isTimeGiven: true })
      return { ledger, close: () => ledger.close() }
    }
    define(toWithLedger(openOnRedis))
  })
}
