import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildProgram,
  type ChildProgram,
  programFolder,
  runProgram,
} from '../../testing/harness/child-program.ts'
import { makeMeter, openSeeds } from '../../testing/harness/ledger-model.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import { RedisLedger } from './redis-ledger.ts'

/** A process that does as its lines of input say: `admit` many at once, or one after another until it is told to stop. */
const PROGRAM = `
import { createInterface } from 'node:readline'
import { RedisLedger } from './packages/server/ledger/redis/redis-ledger.ts'
import { CALLER, openSeeds } from './packages/server/testing/harness/ledger-model.ts'

const [url, owner] = process.argv.slice(2) as [string, string]
const ledger = new RedisLedger({
  url, owner, seeds: openSeeds(), onCrossing: () => {}, log: () => {}, now: Date.now,
  countProcesses: async () => 1, drain: async () => {},
      commandTimeoutMs: 10_000,
})
await ledger.whenOpen(10_000)
console.log('open')
let number = 0
const admit = async ({ meters, nanoUsd, leaseMs }) => {
  const id = owner + '/' + number++
  const hold = { tokens: 0, nanoUsd }
  const before = Date.now()
  const verdict = await ledger.admit({ id, at: before, meters, subject: CALLER, hold, leaseMs })
  return { id, before, after: Date.now(), isAdmitted: verdict.isAdmitted }
}
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line)
  const done = []
  if (order.act === 'burst') {
    for (const each of await Promise.all(Array.from({ length: order.count }, () => admit(order)))) done.push(each)
  } else {
    for (const end = Date.now() + order.ms; Date.now() < end; ) {
      const each = await admit(order)
      if (each.isAdmitted) done.push(each)
    }
  }
  const admitted = done.filter(each => each.isAdmitted)
  if (order.settleAt !== undefined) {
    const used = { requests: 1, tokens: 0, nanoUsd: order.settleAt, isSandbox: false }
    for (const { id } of admitted) await ledger.settle(id, used)
  }
  console.log(JSON.stringify(admitted))
}
`

interface Admitted {
  readonly before: number
  readonly after: number
}

describe.skipIf(redisProgram === undefined)('limits of three processes', () => {
  const dir = programFolder('ledger-processes')
  const program = join(dir, 'program.mjs')
  const children: ChildProgram[] = []
  let redis: TestRedis
  let observer: RedisLedger

  beforeAll(async () => {
    redis = await startTestRedis()
    await buildProgram(PROGRAM, program)
    observer = new RedisLedger({
      url: redis.url,
      owner: 'observer',
      seeds: openSeeds(),
      onCrossing: () => {},
      log: () => {},
      now: Date.now,
      countProcesses: async () => 1,
      drain: async () => {},
      commandTimeoutMs: 10_000,
    })
    await observer.whenOpen(10_000)
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
  const order = async ({ child, nextLine }: ChildProgram, what: object): Promise<Admitted[]> => {
    child.stdin?.write(`${JSON.stringify({ nanoUsd: 0, leaseMs: 60_000, ...what })}\n`)
    return JSON.parse(await nextLine())
  }

  test('300 at once of exactly $0.05 against $1.00: 20 are admitted, and no instant shows a cent more', async () => {
    const meter = makeMeter('budget', 1_000_000_000, { key: 'dollar' })
    const three = await openChildren(3)
    let isRunning = true
    let most = 0
    let samples = 0
    const sampling = (async () => {
      while (isRunning) {
        const [standing] = (await observer.read([meter], Date.now())) ?? []
        most = Math.max(most, (standing?.settled ?? 0) + (standing?.held ?? 0))
        samples++
      }
    })()
    const burst = { act: 'burst', count: 100, meters: [meter], nanoUsd: 50_000_000, settleAt: 50_000_000 }
    const admitted = await Promise.all(three.map(child => order(child, burst)))
    isRunning = false
    await sampling
    expect(admitted.flat()).toHaveLength(20)
    expect(samples).toBeGreaterThan(10)
    expect(most).toBe(1_000_000_000)
    expect(await observer.read([meter], Date.now())).toMatchObject([{ settled: 1_000_000_000, held: 0 }])
  })

  test('60 a window: in no window are more admitted, by whichever of the three, and none is lost', async () => {
    const windowMs = 700
    const meter = makeMeter('rate', 60, { key: 'sixty', windowMs })
    const three = await openChildren(3)
    const rush = { act: 'rush', ms: windowMs * 4.5, meters: [meter] }
    const admitted = (await Promise.all(three.map(child => order(child, rush)))).flat()
    // Each was admitted somewhere between before and after: what lies in a window whole was admitted in it.
    for (const { before: start } of admitted) {
      const within = admitted.filter(({ before, after }) => before >= start && after < start + windowMs)
      expect(within.length).toBeLessThanOrEqual(60)
    }
    // As many at least as windows passed, since all three pressed all the time.
    expect(admitted.length).toBeGreaterThanOrEqual(240)
    expect(admitted.length).toBeLessThanOrEqual(360)
  })

  test('what a killed process held is swept, as used', async () => {
    const since = Date.now()
    const meters = [
      makeMeter('budget', 1_000, { key: 'killed', since }),
      makeMeter('concurrency', 10, { key: 'slots', since }),
    ]
    const [victim, other] = (await openChildren(2)) as [ChildProgram, ChildProgram]
    const held = await order(victim, { act: 'burst', count: 10, meters, nanoUsd: 5, leaseMs: 300 })
    expect(held).toHaveLength(10)
    expect(await order(other, { act: 'burst', count: 1, meters, nanoUsd: 5 })).toHaveLength(0)
    victim.child.kill('SIGKILL')
    await victim.ended
    const stand = async (): Promise<unknown> =>
      (await observer.read(meters, Date.now()))?.map(({ settled, held: now }) => [settled, now])
    await expect.poll(stand, { timeout: 5000 }).toEqual([
      [50, 0],
      [0, 0],
    ])
    expect(await order(other, { act: 'burst', count: 1, meters, nanoUsd: 5 })).toHaveLength(1)
  })
})
