import { redisProgram, startTestRedis } from './redis.ts'

/** The settings of an app for one ledger, and how to stop what they refer to. */
export interface LedgerHome {
  readonly env: Record<string, string>
  stop(): Promise<void>
}

/** For `describe.each`: the ledgers that this machine can run. Without a Redis server, redis.ts prints a line. */
export const LEDGERS: [string, () => Promise<LedgerHome>][] = [
  ['in process', async () => ({ env: {}, stop: async () => {} })],
]
if (redisProgram !== undefined) {
  LEDGERS.push([
    'over Redis',
    async () => {
      const redis = await startTestRedis()
      return { env: { REDIS_URL: redis.url }, stop: redis.stop }
    },
  ])
}
