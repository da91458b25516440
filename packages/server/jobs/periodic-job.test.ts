import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPeriodicJob } from './periodic-job.ts'
import { openSigningKeysJob } from './signing-keys-job.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A run that ends when the test says so. */
function createRuns() {
  const ends: (() => void)[] = []
  const run = (): Promise<void> => new Promise(resolve => ends.push(resolve))
  return { ends, run }
}

describe('a periodic job', () => {
  test('runs at once and then at each interval', async () => {
    let runs = 0
    const job = openPeriodicJob(async () => void runs++, 1000)
    await job.first
    expect(runs).toBe(1)
    await vi.advanceTimersByTimeAsync(999)
    expect(runs).toBe(1)
    await vi.advanceTimersByTimeAsync(2001)
    expect(runs).toBe(4)
    await job.close()
  })

  test('skips the runs that fall into a run that lasts', async () => {
    const { ends, run } = createRuns()
    const job = openPeriodicJob(run, 1000)
    await vi.advanceTimersByTimeAsync(2500)
    expect(ends).toHaveLength(1)
    ends[0]?.()
    await vi.advanceTimersByTimeAsync(500)
    expect(ends).toHaveLength(2)
    ends[1]?.()
    await job.close()
  })

  test('aborts its current run, closes when that has ended, and never runs again', async () => {
    const { ends, run } = createRuns()
    let stopping: AbortSignal | undefined
    const job = openPeriodicJob(signal => {
      stopping = signal
      return run()
    }, 1000)
    expect(stopping?.aborted).toBe(false)
    let isClosed = false
    const closed = job.close().then(() => {
      isClosed = true
    })
    await vi.advanceTimersByTimeAsync(5000)
    expect([isClosed, ends.length, stopping?.aborted]).toEqual([false, 1, true])
    ends[0]?.()
    await closed
    await vi.advanceTimersByTimeAsync(5000)
    expect(ends).toHaveLength(1)
  })

  test('closes at once between two runs, and twice', async () => {
    let runs = 0
    const job = openPeriodicJob(async () => void runs++, 1000)
    await job.first
    await job.close()
    await job.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(runs).toBe(1)
  })
})

describe('the job that rotates signing keys', () => {
  const open = (rotate: (now: number) => Promise<{ made: number }>) => {
    const infos: object[] = []
    const errors: object[] = []
    const log = {
      info: (details: object) => infos.push(details),
      error: (details: object) => errors.push(details),
    }
    return {
      infos,
      errors,
      job: openSigningKeysJob({ clock: { now: () => 42 }, rotate, log, everyMs: 1000 }),
    }
  }

  test('opens when the first rotation has ended, and logs created keys only', async () => {
    const { ends, run } = createRuns()
    const made = [2, 0, 1]
    const times: number[] = []
    const { job, infos } = open(async now => {
      times.push(now)
      if (times.length === 1) await run()
      return { made: made[times.length - 1] ?? 0 }
    })
    let isOpen = false
    void job.then(() => {
      isOpen = true
    })
    await vi.advanceTimersByTimeAsync(100)
    expect(isOpen).toBe(false)
    ends[0]?.()
    const opened = await job
    await vi.advanceTimersByTimeAsync(2000)
    expect(times).toEqual([42, 42, 42])
    expect(infos).toEqual([{ made: 2 }, { made: 1 }])
    await opened.close()
  })

  test('opens and keeps trying if the rotation fails', async () => {
    let runs = 0
    const { job, errors } = open(async () => {
      if (++runs < 3) throw new Error('the database is down')
      return { made: 0 }
    })
    const opened = await job
    await vi.advanceTimersByTimeAsync(3000)
    expect([runs, errors.length]).toEqual([4, 2])
    await opened.close()
  })
})
