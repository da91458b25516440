import { RedisLedger, type RedisLedgerOptions } from '../redis/redis-ledger.ts'
import { openSeeds } from './make-meter.ts'

/** Opens a RedisLedger that is alone on its server and is patient with it, and waits until it counts. */
export async function openRedisLedger(
  options: Pick<RedisLedgerOptions, 'url' | 'owner'> & Partial<RedisLedgerOptions>,
): Promise<RedisLedger> {
  const ledger = new RedisLedger({
    seeds: openSeeds(),
    onThresholdCrossed: () => {},
    log: () => {},
    now: Date.now,
    countProcesses: async () => 1,
    drain: async () => {},
    commandTimeoutMs: 10_000,
    ...options,
  })
  await ledger.whenOpen(10_000)
  return ledger
}
