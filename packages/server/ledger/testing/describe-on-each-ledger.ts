import { describe } from 'vitest'
import type { Ledger } from '../ledger.ts'
import { ProcessLedger } from '../process/process-ledger.ts'
import { describeOnRedis } from './describe-on-redis.ts'
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

  describeOnRedis(subject, ({ openNew }) => {
    const openOnRedis: OpenLedger = async options => {
      const ledger = await openNew(options)
      return { ledger, close: () => ledger.close() }
    }
    define(toWithLedger(openOnRedis))
  })
}
