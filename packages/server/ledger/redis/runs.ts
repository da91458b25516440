import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { lifeKey, lifeMarkerOf, membersKey, openKey, toRunName } from './keys.ts'

const WEEK_MS = 604_800_000
const POLL_MS = 50

/**
 * Returns the server's `run_id`. It changes with every restart, and a replica has another than its primary. Throws when the
 * server does not report one.
 */
export async function readServerId(redis: Redis): Promise<string> {
  const info = await redis.info('server')
  const id = /^run_id:(\w+)/m.exec(info)?.[1]
  if (id === undefined) throw new Error('INFO reports no run_id')
  return id
}

/** Returns the name of the server's run; undefined where its data was lost or no process has created a run yet. */
export async function findRun(redis: Redis, serverId: string): Promise<string | undefined> {
  const life = await redis.get(lifeKey(serverId))
  return life === null ? undefined : toRunName(serverId, life)
}

/** Creates a run and returns its name. Concurrent processes get the same name. */
export async function createRun(redis: Redis, serverId: string): Promise<string> {
  await redis.set(lifeKey(serverId), randomUUID().slice(0, 8), 'NX')
  const life = await redis.get(lifeKey(serverId))
  if (life === null) throw new Error('a key that was just written is missing')
  return toRunName(serverId, life)
}

// Two processes may end a run at the same time: the later one must not end the run that has begun since.
const END_RUN = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"

/** Ends a run: all processes notice it and begin another one, whose counters are seeded. */
export async function endRun(redis: Redis, run: string): Promise<void> {
  const { key, value } = lifeMarkerOf(run)
  await redis.eval(END_RUN, 1, key, value)
}

/**
 * Returns whether the counters of a run are on this server and may be used. Writes, by renewing the marker's expiry, so that a
 * server that has become read-only fails here.
 */
export async function isRunOpen(redis: Redis, run: string): Promise<boolean> {
  const life = lifeMarkerOf(run)
  const [marker, current] = await Promise.all([redis.getex(openKey(run), 'PX', WEEK_MS), redis.get(life.key)])
  return marker !== null && current === life.value
}

export interface JoinOptions {
  readonly owner: string
  /** Returns how many gateway processes use this database. */
  readonly countProcesses: () => Promise<number>
  readonly timeoutMs: number
}

/**
 * Registers this process in a run and waits until all processes have registered, at most `timeoutMs`; then opens the run. A
 * process registers after it has restored its reservations: without them the limits would admit requests in their place. Rejects
 * where the run has ended meanwhile.
 */
export async function joinRun(
  redis: Redis,
  run: string,
  { owner, countProcesses, timeoutMs }: JoinOptions,
): Promise<void> {
  await redis.sadd(membersKey(run), owner)
  await redis.pexpire(membersKey(run), WEEK_MS)
  const end = performance.now() + timeoutMs
  while (!(await isRunOpen(redis, run))) {
    const processes = await countProcesses().catch(() => Number.POSITIVE_INFINITY)
    const isLate = performance.now() >= end
    if (isLate || (await redis.scard(membersKey(run))) >= processes) {
      await redis.set(openKey(run), '1', 'PX', WEEK_MS)
      if (!(await isRunOpen(redis, run))) throw new Error('the run has ended')
      return
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}
