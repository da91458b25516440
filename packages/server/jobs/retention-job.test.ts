import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRetentionJob } from './retention-job.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const log = { info: () => {}, error: () => {} }

test('runs at once and every hour, also after a failure', async () => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  const runs: string[] = []
  const failures: object[] = []
  const job = openRetentionJob({
    clock: { now: () => now },
    apply: async at => {
      runs.push(at.toISOString())
      if (runs.length === 1) throw new Error('the database is down')
      return { droppedPartitions: [], deletedRows: 0 }
    },
    log: { ...log, error: details => void failures.push(details) },
  })
  now += 3_600_000
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(runs).toEqual(['2026-11-21T12:00:00.000Z', '2026-11-21T13:00:00.000Z'])
  expect(failures).toHaveLength(1)
  await job.close()
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(runs).toHaveLength(2)
})

test('does not start a run while one lasts; close aborts the run and waits for its end', async () => {
  let runs = 0
  let finish = (): void => {}
  let signal: AbortSignal | undefined
  const job = openRetentionJob({
    clock: { now: () => 0 },
    apply: (_now, given) => {
      runs++
      signal = given
      return new Promise(resolve => {
        finish = () => resolve(undefined)
      })
    },
    log,
  })
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(runs).toBe(1)
  let isClosed = false
  const closed = job.close().then(() => {
    isClosed = true
  })
  await vi.advanceTimersByTimeAsync(0)
  expect([isClosed, signal?.aborted]).toEqual([false, true])
  finish()
  await closed
})
