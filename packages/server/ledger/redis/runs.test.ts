import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { lifeKey } from './keys.ts'
import { createRun, endRun, findRun, isRunOpen, joinRun, readServerId } from './runs.ts'

describe.skipIf(redisProgram === undefined)('a run of the counters on a server', () => {
  let server: TestRedis
  let redis: Redis
  let serverId: string
  beforeAll(async () => {
    server = await startTestRedis()
    redis = new Redis(server.url)
    serverId = await readServerId(redis)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  beforeEach(() => redis.flushall())

  /** Joins as one of two processes. Returns whether it has ended so far. */
  const join = (owner: string, timeoutMs: number, countProcesses = async () => 2) => {
    const state = { isDone: false, done: Promise.resolve() }
    const run = `${serverId}.test`
    state.done = redis
      .set(lifeKey(serverId), 'test')
      .then(() => joinRun(redis, run, { owner, countProcesses, timeoutMs }))
      .then(() => {
        state.isDone = true
      })
    return state
  }

  test('does not exist on an empty server, and has one name for processes that create it at the same time', async () => {
    expect(await findRun(redis, serverId)).toBeUndefined()
    const names = await Promise.all(Array.from({ length: 10 }, () => createRun(redis, serverId)))
    expect(new Set(names).size).toBe(1)
    expect(await findRun(redis, serverId)).toBe(names[0])
    expect(names[0]).toMatch(new RegExp(`^${serverId}\\.[0-9a-f]{8}$`))
  })

  test('has another name after the server was flushed', async () => {
    const first = await createRun(redis, serverId)
    await redis.flushall()
    expect(await findRun(redis, serverId)).toBeUndefined()
    expect(await createRun(redis, serverId)).not.toBe(first)
  })

  test('is opened when as many processes have joined as there are', async () => {
    const first = join('first', 60_000)
    await expect.poll(() => redis.keys('*:members')).toHaveLength(1)
    expect(first.isDone).toBe(false)
    expect(await isRunOpen(redis, `${serverId}.test`)).toBe(false)
    await join('second', 60_000).done
    await first.done
    expect(await isRunOpen(redis, `${serverId}.test`)).toBe(true)
  })

  test('is opened without processes that do not join in time', async () => {
    await join('alone', 20).done
    expect(await isRunOpen(redis, `${serverId}.test`)).toBe(true)
  })

  test('is opened by the timeout where the processes cannot be counted', async () => {
    const countProcesses = async (): Promise<number> => {
      throw new Error('the database is unreachable')
    }
    await join('alone', 20, countProcesses).done
    expect(await isRunOpen(redis, `${serverId}.test`)).toBe(true)
  })

  test('admits a late process at once if it is already open', async () => {
    await join('first', 0).done
    let counted = 0
    await join('late', 60_000, async () => ++counted).done
    expect(counted).toBe(0)
  })

  test('is not open any more once it was ended, and cannot be joined', async () => {
    await join('first', 0).done
    const run = `${serverId}.test`
    await endRun(redis, run)
    expect(await isRunOpen(redis, run)).toBe(false)
    expect(await findRun(redis, serverId)).toBeUndefined()
    const options = { owner: 'late', countProcesses: async () => 1, timeoutMs: 0 }
    await expect(joinRun(redis, run, options)).rejects.toThrow('the run has ended')
    expect(await isRunOpen(redis, run)).toBe(false)
  })

  test('is ended once: a second process that ends it does not end the one that has begun since', async () => {
    await join('first', 0).done
    await endRun(redis, `${serverId}.test`)
    const next = await createRun(redis, serverId)
    await endRun(redis, `${serverId}.test`)
    expect(await findRun(redis, serverId)).toBe(next)
  })

  test('is kept for a week after it was last used, and fails on a server that is read-only', async () => {
    await join('first', 0).done
    const [key = ''] = await redis.keys('*:open')
    await redis.pexpire(key, 1000)
    await isRunOpen(redis, `${serverId}.test`)
    expect(await redis.pttl(key)).toBeGreaterThan(600_000_000)
    // A replica of a server that does not exist keeps its data and refuses writes.
    await redis.call('REPLICAOF', '127.0.0.1', '1')
    await expect(isRunOpen(redis, `${serverId}.test`)).rejects.toThrow('READONLY')
    await redis.call('REPLICAOF', 'NO', 'ONE')
  })
})
