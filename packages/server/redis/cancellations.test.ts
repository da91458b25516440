import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { type Cancellations, openCancellations } from './cancellations.ts'

describe.skipIf(redisProgram === undefined)('a cancel with several gateway processes', () => {
  const newId = openIds(systemClock, systemRandom)
  let redis: TestRedis
  const stopped: string[] = []
  const open: Cancellations[] = []

  const openNode = (name: string, running: readonly string[]): Cancellations => {
    const node = openCancellations({
      url: redis.url,
      newId,
      log: () => {},
      cancelLocal: (environmentId, requestId, endUserId) => {
        const has = running.includes([environmentId, requestId, endUserId].filter(Boolean).join('/'))
        if (has) stopped.push(`${name} ${requestId}`)
        return has
      },
    })
    open.push(node)
    return node
  }

  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(async () => {
    for (const node of open) node.close()
    await redis.stop()
  })

  test('cancels the request in the process that runs it, and only in its own environment', async () => {
    const first = openNode('first', ['e1/r1'])
    openNode('second', ['e1/r2'])
    openNode('third', ['e2/r3'])
    await expect.poll(() => first.cancel('e1', 'r2', null)).toBe(true)
    await expect.poll(() => first.cancel('e2', 'r3', null)).toBe(true)
    expect(await first.cancel('e1', 'r3', null)).toBe(false)
    expect(await first.cancel('e1', 'unknown', null)).toBe(false)
    expect(new Set(stopped)).toEqual(new Set(['second r2', 'third r3']))
  })

  test('cancels a request of the named end user only', async () => {
    const node = openNode('sixth', [])
    openNode('seventh', ['e1/r6/alice'])
    await expect.poll(() => node.cancel('e1', 'r6', 'alice')).toBe(true)
    expect(await node.cancel('e1', 'r6', 'bob')).toBe(false)
  })

  test('works again after a restart of the server, and resolves with false while it is unreachable', async () => {
    const node = openNode('fourth', [])
    openNode('fifth', ['e1/r5'])
    await expect.poll(() => node.cancel('e1', 'r5', null)).toBe(true)
    await redis.kill()
    expect(await node.cancel('e1', 'r5', null)).toBe(false)
    await redis.start()
    await expect.poll(() => node.cancel('e1', 'r5', null), { timeout: 10_000 }).toBe(true)
  })
})
