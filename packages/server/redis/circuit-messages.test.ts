import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CircuitUpdate } from '../core/attempts/circuit-sharing.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { type CircuitMessages, openCircuitMessages } from './circuit-messages.ts'

describe.skipIf(redisProgram === undefined)('circuits of several gateway processes', () => {
  const name = { orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }
  let redis: TestRedis
  const open: CircuitMessages[] = []
  const openNode = (): { node: CircuitMessages; received: CircuitUpdate[] } => {
    const received: CircuitUpdate[] = []
    const node = openCircuitMessages({
      url: redis.url,
      newId: randomUUID,
      apply: update => void received.push(update),
    })
    open.push(node)
    return { node, received }
  }
  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(async () => {
    for (const node of open) node.close()
    await redis.stop()
  })

  test('reach the other processes and not their sender', async () => {
    const [one, two] = [openNode(), openNode()]
    const update: CircuitUpdate = { ...name, change: 'open', retryInMs: 1_000, openForMs: 0, failureRate: 1 }
    await expect
      .poll(() => {
        one.node.publish(update)
        return two.received.length
      })
      .toBeGreaterThan(0)
    expect(two.received[0]).toEqual(update)
    expect(one.received).toEqual([])
  })

  test('claim one probe among them, which its holder alone releases', async () => {
    const [one, two] = [openNode().node, openNode().node]
    const model = { ...name, model: 'claimed' }
    // The first claims succeed while the connections are being opened.
    await expect
      .poll(async () => [await one.claimProbe(model, 60_000), await two.claimProbe(model, 60_000)])
      .toEqual([false, false])
    two.releaseProbe(model)
    one.releaseProbe(model)
    await expect.poll(() => two.claimProbe(model, 60_000)).toBe(true)
    one.releaseProbe(model)
    expect(await one.claimProbe(model, 60_000)).toBe(false)
  })

  test('leave each process on its own while the server is away, and continue afterwards', async () => {
    const [one, two] = [openNode(), openNode()]
    await expect.poll(() => one.node.claimProbe({ ...name, model: 'away' }, 60_000)).toBe(true)
    await expect.poll(() => one.node.claimProbe({ ...name, model: 'away' }, 60_000)).toBe(false)
    await redis.kill()
    await expect.poll(() => one.node.claimProbe({ ...name, model: 'away' }, 60_000)).toBe(true)
    one.node.publish({ ...name, change: 'close' })
    one.node.releaseProbe(name)
    await redis.start()
    await expect
      .poll(
        () => {
          one.node.publish({ ...name, change: 'close' })
          return two.received.length
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(0)
  })
})
