import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SpanMeter } from '../core/meter.ts'
import type { Standing } from '../storage/alerts.ts'
import { openAlertsJob } from './alerts-job.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const T = Date.parse('2026-11-21T12:00:00Z')
const subject = {
  orgId: 'o',
  projectId: null,
  environmentId: null,
  keyId: null,
  endUserId: null,
  isRealOnly: true,
}

function standing(key: string, settled: number): Standing {
  const source = { kind: 'budget', id: key, scope: 'org', ref: 'o', code: 'budget_exceeded' } as const
  const base = { subject, source, limit: 10, nominalLimit: 10, alertAt: [5], since: T, end: null }
  const meter: SpanMeter = { ...base, kind: 'span', metric: 'nano_usd', key, series: key }
  return { meter, settled }
}

function open(raise: (standing: Standing) => Promise<unknown>, found: Standing[] = []) {
  const sweeps: (Date | undefined)[] = []
  const errors: object[] = []
  const job = openAlertsJob({
    clock: { now: () => T },
    raise,
    sweep: async function* (since) {
      sweeps.push(since)
      yield* found
    },
    log: { error: details => void errors.push(details) },
  })
  return { job, sweeps, errors }
}

test('a counter that was noted many times is raised once, by its highest standing', async () => {
  const raised: [string, number][] = []
  const { job } = open(async ({ meter, settled }) => void raised.push([meter.key, settled]))
  job.note(standing('a', 5))
  job.note(standing('a', 9))
  job.note(standing('a', 7))
  job.note(standing('b', 6))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised).toEqual([
    ['a', 9],
    ['b', 6],
  ])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(raised).toHaveLength(2)
  await job.close()
})

test('while the database is away nothing is lost, and closing raises what waits', async () => {
  const raised: string[] = []
  let isAway = true
  const { job, errors } = open(async ({ meter }) => {
    if (isAway) throw new Error('away')
    raised.push(meter.key)
  })
  job.note(standing('a', 5))
  job.note(standing('b', 5))
  await vi.advanceTimersByTimeAsync(3_000)
  expect([raised, errors.length]).toEqual([[], 3])
  isAway = false
  job.note(standing('c', 5))
  await job.close()
  expect(raised.sort()).toEqual(['a', 'b', 'c'])
})

test('the usage ledger is looked at on the start as a whole, then for what was used since the look before', async () => {
  const raised: string[] = []
  const { job, sweeps } = open(async ({ meter }) => void raised.push(meter.key), [standing('missed', 5)])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(sweeps).toEqual([undefined, new Date(T - 2 * 3_600_000)])
  expect(raised).toEqual(['missed', 'missed'])
  await job.close()
})
