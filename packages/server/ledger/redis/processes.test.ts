import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildProgram,
  type ChildProgram,
  programFolder,
  runProgram,
} from '../../testing/harness/child-program.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { makeMeter } from '../testing/make-meter.ts'
import { openRedisLedger } from '../testing/open-redis-ledger.ts'
import type { RedisLedger } from './redis-ledger.ts'

/** A process that executes its lines of input: `burst` reserves many at once, `rush` one after the other for `ms`. */
const PROGRAM = `
import { createInterface } from 'node:readline'
import { toRequest, toUsage } from './packages/server/ledger/testing/make-meter.ts'
import { openRedisLedger } from './packages/server/ledger/testing/open-redis-ledger.ts'

const [url, owner] = process.argv.slice(2) as [string, string]
const ledger = await openRedisLedger({ url, owner })
console.log('open')
let number = 0
const reserve = async ({ meters, nanoUsd, leaseMs }) => {
  const id = owner + '/' + number++
  const amounts = { tokens: 0, nanoUsd }
  const before = Date.now()
  const verdict = await ledger.reserve(toRequest(id, meters, { at: before, amounts, leaseMs }))
  return { id, before, after: Date.now(), isAdmitted: verdict.isAdmitted }
}
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line)
  const done = []
  if (order.act === 'burst') {
    for (const each of await Promise.all(Array.from({ length: order.count }, () => reserve(order)))) done.push(each)
  } else {
    for (const end = Date.now() + order.ms; Date.now() < end; ) {
      const each = await reserve(order)
      if (each.isAdmitted) done.push(each)
    }
  }
  const admitted = done.filter(each => each.isAdmitted)
  if (order.settleAt !== undefined) {
    for (const { id } of admitted) await ledger.settle(id, toUsage({ nanoUsd: order.settleAt }))
  }
  console.log(JSON.stringify(admitted))
}
`

interface AdmissionSpan {
  readonly before: number
  readonly after: number
}

describe.skipIf(redisProgram === undefined)('processes that share limits', () => {
  const dir = programFolder('ledger-processes')
  const program = join(dir, 'program.mjs')
  const children: ChildProgram[] = []
  let redis: TestRedis
  let observer: RedisLedger

  beforeAll(async () => {
    redis = await startTestRedis()
    await buildProgram(PROGRAM, program)
    observer = await openRedisLedger({ url: redis.url, owner: 'observer' })
  })
  afterAll(async () => {
    for (const { child } of children) child.kill('SIGKILL')
    await observer.close()
    await redis.stop()
    rmSync(dir, { recursive: true })
  })

  const openChildren = async (count: number): Promise<ChildProgram[]> => {
    const opened = Array.from({ length: count }, (_, index) =>
      runProgram(program, [redis.url, `p${children.length + index}`]),
    )
    children.push(...opened)
    for (const { nextLine } of opened) expect(await nextLine()).toBe('open')
    return opened
  }
  const order = async ({ child, nextLine }: ChildProgram, what: object): Promise<AdmissionSpan[]> => {
    child.stdin?.write(`${JSON.stringify({ nanoUsd: 0, leaseMs: 60_000, ...what })}\n`)
    return JSON.parse(await nextLine())
  }

  test('admit 20 of 300 concurrent requests of $0.05 on a budget of $1.00, and no sample shows more than that', async () => {
    const three = await openChildren(3)
    let samples = 0
    // A busy machine brings few samples in a round.
    for (let round = 0; samples < 10; round++) {
      const meter = makeMeter('budget', 1_000_000_000, { key: `dollar ${round}` })
      let isRunning = true
      let most = 0
      const sampling = (async () => {
        while (isRunning) {
          const [status] = (await observer.read([meter], Date.now())) ?? []
          most = Math.max(most, (status?.settled ?? 0) + (status?.reserved ?? 0))
          samples++
        }
      })()
      const burst = { act: 'burst', count: 100, meters: [meter], nanoUsd: 50_000_000, settleAt: 50_000_000 }
      const admitted = await Promise.all(three.map(child => order(child, burst)))
      isRunning = false
      await sampling
      expect(admitted.flat()).toHaveLength(20)
      expect(most).toBeLessThanOrEqual(1_000_000_000)
      expect(await observer.read([meter], Date.now())).toMatchObject([
        { settled: 1_000_000_000, reserved: 0 },
      ])
    }
  })

  test('admit 60 requests in any window together, and no fewer than the windows allow', async () => {
    const windowMs = 700
    const meter = makeMeter('rate', 60, { key: 'sixty', windowMs })
    const three = await openChildren(3)
    const rush = { act: 'rush', ms: windowMs * 4.5, meters: [meter] }
    const admitted = (await Promise.all(three.map(child => order(child, rush)))).flat()
    // Each was admitted between `before` and `after`. Those that lie within a window as a whole were admitted in it.
    for (const { before: start } of admitted) {
      const within = admitted.filter(({ before, after }) => before >= start && after < start + windowMs)
      expect(within.length).toBeLessThanOrEqual(60)
    }
    // All three asked all the time, so every window was used up.
    expect(admitted.length).toBeGreaterThanOrEqual(240)
    expect(admitted.length).toBeLessThanOrEqual(360)
  })

  test('count as used what a killed process had reserved, once its leases have run out', async () => {
    const since = Date.now()
    const meters = [
      makeMeter('budget', 1_000, { key: 'killed', since }),
      makeMeter('concurrency', 10, { key: 'slots', since }),
    ]
    const [victim, other] = (await openChildren(2)) as [ChildProgram, ChildProgram]
    const reserved = await order(victim, { act: 'burst', count: 10, meters, nanoUsd: 5, leaseMs: 300 })
    expect(reserved).toHaveLength(10)
    expect(await order(other, { act: 'burst', count: 1, meters, nanoUsd: 5 })).toHaveLength(0)
    victim.child.kill('SIGKILL')
    await victim.ended
    const sums = async (): Promise<unknown> =>
      (await observer.read(meters, Date.now()))?.map(({ settled, reserved: now }) => [settled, now])
    await expect.poll(sums, { timeout: 5000 }).toEqual([
      [50, 0],
      [0, 0],
    ])
    expect(await order(other, { act: 'burst', count: 1, meters, nanoUsd: 5 })).toHaveLength(1)
  })
})
