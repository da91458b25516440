import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  buildProgram,
  type ChildProgram,
  programFolder,
  runProgram,
} from '../../testing/harness/child-program.ts'
import { makeMeter, toUsage } from '../testing/make-meter.ts'
import { openTestSupervisor, type TestSupervisor } from '../testing/open-socket-ledger.ts'

/** A worker that executes its lines of input: `burst` reserves many at once, `rush` one after the other for `ms`. */
const PROGRAM = `
import { createInterface } from 'node:readline'
import { toRequest, toUsage } from './packages/server/ledger/testing/make-meter.ts'
import { openTestWorker } from './packages/server/ledger/testing/open-socket-ledger.ts'

const [path, worker] = process.argv.slice(2) as [string, string]
const { ledger } = await openTestWorker(path, worker)
console.log('open')
let number = 0
const reserve = async ({ meters, nanoUsd, leaseMs }) => {
  const id = worker + '/' + number++
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
  readonly id: string
  readonly before: number
  readonly after: number
}

describe('worker processes', () => {
  const dir = programFolder('ledger-workers')
  const program = join(dir, 'program.mjs')
  let children: ChildProgram[] = []
  let supervisor: TestSupervisor

  beforeAll(() => buildProgram(PROGRAM, program))
  afterAll(() => rmSync(dir, { recursive: true }))
  beforeEach(async () => {
    supervisor = await openTestSupervisor()
  })
  afterEach(async () => {
    for (const { child } of children) child.kill('SIGKILL')
    children = []
    await supervisor.close()
  })

  const openWorkers = async (count: number): Promise<ChildProgram[]> => {
    const opened = Array.from({ length: count }, (_, index) =>
      runProgram(program, [supervisor.path, `w${children.length + index}`]),
    )
    children.push(...opened)
    for (const { nextLine } of opened) expect(await nextLine()).toBe('open')
    return opened
  }
  const order = async ({ child, nextLine }: ChildProgram, what: object): Promise<AdmissionSpan[]> => {
    child.stdin?.write(`${JSON.stringify({ nanoUsd: 0, leaseMs: 60_000, ...what })}\n`)
    return JSON.parse(await nextLine())
  }
  const kill = async ({ child, ended }: ChildProgram): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }

  test('admit 20 of 300 concurrent requests of $0.05 on a budget of $1.00, and report its threshold once', async () => {
    const crossings: number[] = []
    await supervisor.close()
    supervisor = await openTestSupervisor({
      onThresholdCrossed: ({ threshold }) => void crossings.push(threshold),
    })
    const meter = makeMeter('budget', 1_000_000_000, { key: 'dollar', alertThresholds: [500_000_000] })
    const three = await openWorkers(3)
    const burst = { act: 'burst', count: 100, meters: [meter], nanoUsd: 50_000_000, settleAt: 50_000_000 }
    const admitted = (await Promise.all(three.map(child => order(child, burst)))).flat()
    expect(admitted).toHaveLength(20)
    const statuses = await supervisor.ledger.read([meter], Date.now())
    expect(statuses).toMatchObject([{ settled: 1_000_000_000, reserved: 0 }])
    expect(crossings).toEqual([500_000_000])
  })

  test('admit 60 requests in any window together, and no fewer than the windows allow', async () => {
    const windowMs = 700
    const meter = makeMeter('rate', 60, { key: 'sixty', windowMs })
    const three = await openWorkers(3)
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

  test('count what their journal has, and otherwise what they had reserved, after they are killed', async () => {
    const meters = [
      makeMeter('budget', 1_000, { key: 'killed' }),
      makeMeter('concurrency', 10, { key: 'slots' }),
    ]
    const [victim, other] = (await openWorkers(2)) as [ChildProgram, ChildProgram]
    const reserved = await order(victim, { act: 'burst', count: 10, meters, nanoUsd: 5 })
    expect(reserved).toHaveLength(10)
    expect(await order(other, { act: 'burst', count: 1, meters, nanoUsd: 5 })).toHaveLength(0)
    await kill(victim)
    const [first] = reserved as [AdmissionSpan]
    const settlement = { id: first.id, orgId: 'org', usage: toUsage({ nanoUsd: 2 }) }
    const { ledger } = supervisor
    // A replay that was interrupted begins again.
    await ledger.settleRecovered([settlement])
    await ledger.settleRecovered([settlement])
    expect(ledger.expireOwner('w0')).toBe(9)
    expect(ledger.expireOwner('w0')).toBe(0)
    expect(await ledger.read(meters, Date.now())).toMatchObject([
      { settled: 47, reserved: 0 },
      { settled: 0, reserved: 0 },
    ])
    expect(await order(other, { act: 'burst', count: 11, meters, nanoUsd: 5 })).toHaveLength(10)
  })

  test('count what they had reserved, once their leases have run out, if they are killed and not replayed', async () => {
    const meters = [
      makeMeter('budget', 1_000, { key: 'lease' }),
      makeMeter('concurrency', 10, { key: 'slots' }),
    ]
    const [victim] = (await openWorkers(1)) as [ChildProgram]
    expect(await order(victim, { act: 'burst', count: 10, meters, nanoUsd: 5, leaseMs: 300 })).toHaveLength(
      10,
    )
    await kill(victim)
    expect(await supervisor.ledger.expire(Date.now() + 301)).toBe(10)
    expect(await supervisor.ledger.read(meters, Date.now())).toMatchObject([
      { settled: 50, reserved: 0 },
      { settled: 0, reserved: 0 },
    ])
  })
})
