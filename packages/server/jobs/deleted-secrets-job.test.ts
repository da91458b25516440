import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openDeletedSecretsJob } from './deleted-secrets-job.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('removes at once and every hour, and logs a run that fails', async () => {
  let runs = 0
  const failures: object[] = []
  const job = openDeletedSecretsJob({
    remove: async () => {
      if (++runs === 1) throw new Error('the database is down')
    },
    log: { error: details => void failures.push(details) },
  })
  await job.first
  expect([runs, failures.length]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect([runs, failures.length]).toEqual([2, 1])
  await job.close()
})
