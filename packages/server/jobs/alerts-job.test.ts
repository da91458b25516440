import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { FixedMeter } from '../core/limits/meter.ts'
import type { SettledMeter } from '../storage/events/alert-policies.ts'
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
  excludesSandbox: true,
}

function settledMeter(key: string, settled: number, orgId = 'o'): SettledMeter {
  const source = { kind: 'budget', id: key, scope: 'org', ref: 'o', code: 'budget_exceeded' } as const
  const base = {
    subject: { ...subject, orgId },
    source,
    limit: 10,
    nominalLimit: 10,
    alertThresholds: [5],
    since: T,
    changedAt: T,
    end: null,
  }
  const meter: FixedMeter = { ...base, kind: 'fixed', metric: 'nano_usd', key, series: key }
  return { meter, settled }
}

function open(raise: (settled: SettledMeter) => Promise<unknown>, found: SettledMeter[] = []) {
  const sweeps: (Date | undefined)[] = []
  const sweptAgain: (readonly string[])[] = []
  const errors: object[] = []
  const job = openAlertsJob({
    clock: { now: () => T },
    raise,
    sweep: async function* (since, _at, _signal, again) {
      sweeps.push(since)
      sweptAgain.push(again)
      yield* found
    },
    log: { error: details => void errors.push(details) },
  })
  return { job, sweeps, sweptAgain, errors }
}

test('raises a meter that is reported many times once, with its highest amount', async () => {
  const raised: [string, number][] = []
  const { job } = open(async ({ meter, settled }) => void raised.push([meter.key, settled]))
  job.note(settledMeter('a', 5))
  job.note(settledMeter('a', 9))
  job.note(settledMeter('a', 7))
  job.note(settledMeter('b', 6))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised).toEqual([
    ['a', 9],
    ['b', 6],
  ])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(raised).toHaveLength(2)
  await job.close()
})

test('keeps reports while the database is out of reach, and raises them when it is closed', async () => {
  const raised: string[] = []
  let isDown = true
  const { job, errors } = open(async ({ meter }) => {
    if (isDown) throw new Error('down')
    raised.push(meter.key)
  })
  job.note(settledMeter('a', 5))
  job.note(settledMeter('b', 5))
  await vi.advanceTimersByTimeAsync(3_000)
  expect([raised, errors.length]).toEqual([[], 3])
  isDown = false
  job.note(settledMeter('c', 5))
  await job.close()
  expect(raised.sort()).toEqual(['a', 'b', 'c'])
})

test('sweeps all organizations at the start, then those with usage since the previous sweep', async () => {
  const raised: string[] = []
  const { job, sweeps } = open(async ({ meter }) => void raised.push(meter.key), [settledMeter('missed', 5)])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(sweeps).toEqual([undefined, new Date(T - 2 * 3_600_000)])
  expect(raised).toEqual(['missed', 'missed'])
  await job.close()
})

test('reports a meter again only if its amount grew, or after it was raised', async () => {
  const raised: number[] = []
  const { job } = open(async ({ settled }) => void raised.push(settled))
  job.note(settledMeter('a', 5))
  await vi.advanceTimersByTimeAsync(1_000)
  job.note(settledMeter('a', 5))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised).toEqual([5, 5])
  await job.close()
})

test('raises the higher amount if a meter grows while its alert is being raised', async () => {
  const raised: number[] = []
  let fail = true
  const { job } = open(async ({ settled }) => {
    if (fail) {
      fail = false
      job.note(settledMeter('a', 9))
      throw new Error('down')
    }
    raised.push(settled)
  })
  job.note(settledMeter('a', 5))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(raised).toEqual([9])
  await job.close()
})

test('sweeps from the start of the last sweep that succeeded', async () => {
  let isDown = true
  let now = T
  const sweeps: (Date | undefined)[] = []
  const job = openAlertsJob({
    clock: { now: () => now },
    raise: async () => {},
    sweep: async function* (since) {
      sweeps.push(since)
      if (isDown) throw new Error('down')
      yield* [] as SettledMeter[]
    },
    log: { error: () => {} },
  })
  await vi.advanceTimersByTimeAsync(0)
  isDown = false
  now = T + 600_000
  await vi.advanceTimersByTimeAsync(600_000)
  now = T + 1_200_000
  await vi.advanceTimersByTimeAsync(600_000)
  expect(sweeps).toEqual([undefined, undefined, new Date(T + 600_000 - 2 * 3_600_000)])
  await job.close()
})

test('raises alerts of organizations in turns, and lets none have more than a thousand wait', async () => {
  const raised: string[] = []
  const { job, errors } = open(async ({ meter }) => void raised.push(meter.key))
  for (let user = 0; user < 1_500; user++) job.note(settledMeter(`flood ${user}`, 5, 'abuser'))
  job.note(settledMeter('honest', 5, 'other'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised.indexOf('honest')).toBe(1)
  expect(raised).toHaveLength(1_001)
  expect(errors).toHaveLength(1)
  await job.close()
})

/** Raises meters of organizations other than `failing`. */
function openFailing(failing: readonly string[], found: SettledMeter[] = []) {
  const raised: string[] = []
  const attempts: string[] = []
  const opened = open(async ({ meter }) => {
    attempts.push(meter.key)
    if (failing.includes(meter.subject.orgId)) throw new Error('cannot be raised')
    raised.push(meter.key)
  }, found)
  return { ...opened, raised, attempts }
}

test('raises the alerts of others in the same run if those of an organization fail, and attempts one of these a run', async () => {
  const { job, raised, attempts, errors } = openFailing(['failing'])
  job.note(settledMeter('failing 1', 5, 'failing'))
  job.note(settledMeter('failing 2', 5, 'failing'))
  job.note(settledMeter('a', 5, 'one'))
  job.note(settledMeter('b', 5, 'one'))
  job.note(settledMeter('c', 5, 'other'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised).toEqual(['a', 'c', 'b'])
  expect(errors).toMatchObject([{ orgId: 'failing' }])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(attempts.filter(key => key.startsWith('failing'))).toEqual(['failing 1', 'failing 2', 'failing 1'])
  await job.close()
})

test('sweeps the organizations behind one whose alerts fail, and then those with usage since', async () => {
  const failing: string[] = ['failing']
  const found = ['failing 1', 'failing 2'].map(key => settledMeter(key, 5, 'failing'))
  const { job, sweeps, errors, raised, attempts } = openFailing(failing, [
    ...found,
    settledMeter('a', 5, 'other'),
  ])
  await vi.advanceTimersByTimeAsync(0)
  expect([raised, attempts, errors.length]).toEqual([['a'], ['failing 1', 'a'], 1])
  failing.pop()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(raised.sort()).toEqual(['a', 'failing 1', 'failing 2'])
  await vi.advanceTimersByTimeAsync(599_000)
  expect(sweeps).toEqual([undefined, new Date(T - 2 * 3_600_000)])
  await job.close()
})

test('sweeps an organization again that had more alerts at once than may wait', async () => {
  const found = Array.from({ length: 1_500 }, (_, at) => settledMeter(`failing ${at}`, 5, 'failing'))
  const { job, sweeps, sweptAgain } = openFailing(['failing'], found)
  await vi.advanceTimersByTimeAsync(0)
  found.length = 0
  await vi.advanceTimersByTimeAsync(600_000)
  await vi.advanceTimersByTimeAsync(600_000)
  const later = new Date(T - 2 * 3_600_000)
  expect([sweeps, sweptAgain]).toEqual([
    [undefined, later, later],
    [[], ['failing'], []],
  ])
  await job.close()
})
