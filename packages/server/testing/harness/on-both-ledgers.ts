import { redisProgram, startTestRedis } from './redis.ts'

/** What an app's environment needs for a ledger, and how to end that. */
export interface LedgerHome {
  readonly env: Record<string, string>
  stop(): Promise<void>
}

/** For `describe.each`: the ledgers that this machine can run. Where there is no Redis a line says so (redis.ts). */
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
