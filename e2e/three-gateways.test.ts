import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion } from '../packages/server/testing/fakes/scripted-upstream.ts'
import { PRICED_CHAT, USED } from '../packages/server/testing/harness/limited-app.ts'
import { redisProgram } from '../packages/server/testing/harness/redis.ts'
import { type Fleet, type Gateway, openFleet } from './fleet.ts'

const NUMBERS = [1, 2, 3]

describe.skipIf(redisProgram === undefined)('three gateways of the shipped program', () => {
  let fleet: Fleet
  let gateways: readonly Gateway[]

  beforeAll(async () => {
    fleet = await openFleet()
    gateways = await Promise.all(NUMBERS.map(number => fleet.start(number)))
  })
  afterAll(async () => {
    await fleet?.close()
  })
  beforeEach(async () => {
    await fleet.limited.reset()
  })

  const at = (index: number): Gateway => gateways[index % gateways.length] as Gateway

  /** On a busy machine Redis may be unreachable for a moment: the answer says so, and the request is repeated as it asks. */
  async function untilCounted(gateway: Gateway, key: string): Promise<Response> {
    for (;;) {
      const response = await gateway.call(PRICED_CHAT, key)
      const text = await response.text()
      if (response.status !== 500) return response
      expect(text).toContain('config_unavailable')
      const seconds = Number(response.headers.get('retry-after'))
      await new Promise(resolve => setTimeout(resolve, seconds * 1000))
    }
  }

  test('admits 20 of 300 concurrent requests of exactly $0.05 against $1.00, and the budget never shows more', async () => {
    const { limited } = fleet
    const { key, budget } = await limited.freshKey(1)
    let calls = 0
    let answer: () => void = () => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    limited.upstream.script(async (res, seen) => {
      calls++
      await answered
      await completion('hello', { usage: USED })(res, seen)
    })
    let isOver = false
    const samples: number[] = []
    const sample = async (): Promise<void> => {
      const { spent_usd, reserved_usd } = await budget()
      samples.push(spent_usd + reserved_usd)
    }
    const sampling = (async () => {
      while (!isOver) await sample()
    })()
    let refused = 0
    const statuses = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const response = await untilCounted(at(index), key)
        // Answers only after every refusal, so that all reservations exist at the same time.
        if (response.status !== 200 && ++refused === 280) {
          await sample()
          answer()
        }
        return response.status
      }),
    )
    isOver = true
    await sampling
    const count = (status: number): number => statuses.filter(each => each === status).length
    expect([count(200), count(402), calls]).toEqual([20, 280, 20])
    expect(samples.filter(each => each > 1 + 1e-9)).toEqual([])
    expect(Math.max(...samples)).toBeCloseTo(1, 9)
    await expect.poll(async () => (await budget()).reserved_usd, { timeout: 30_000 }).toBe(0)
    expect((await budget()).spent_usd).toBe(1)
  }, 300_000)

  test('with 60 requests a minute the three gateways together never admit more in any minute, and a request after Retry-After is admitted', async () => {
    const { limited } = fleet
    const { id, key } = await limited.app.createKey({})
    const own = { scope: 'key', scope_ref: id, metric: 'requests', window_seconds: 60 }
    await limited.limit('limits', { ...own, limit: 60 })
    /** When each admitted request was sent and when its answer arrived: it was admitted in between. */
    const admitted: { sent: number; answered: number; round: number }[] = []
    const caller = async (_: unknown, index: number): Promise<void> => {
      for (let round = 0; admitted.length < 120; round++) {
        const sent = Date.now()
        const response = await untilCounted(at(index), key)
        if (response.status === 200) {
          admitted.push({ sent, answered: Date.now(), round })
          continue
        }
        expect(response.status).toBe(429)
        const seconds = Number(response.headers.get('retry-after'))
        expect(seconds).toBeGreaterThan(0)
        await new Promise(resolve => setTimeout(resolve, seconds * 1000))
      }
    }
    await Promise.all(Array.from({ length: 90 }, caller))
    expect(admitted.length).toBe(120)
    const inMinuteFrom = (start: number): number =>
      admitted.filter(({ sent, answered }) => sent >= start && answered < start + 60_000).length
    const most = Math.max(...admitted.map(({ sent }) => inMinuteFrom(sent)))
    // All sixty of the first minute, and never more.
    expect(most).toBe(60)
  }, 400_000)
})
