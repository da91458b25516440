import { expect, test } from 'vitest'
import { openIdempotencyJob } from './idempotency-job.ts'

test('a run that could remove only a part logs what it removed, and the reasons of the first ten failures', async () => {
  const lines: [level: string, details: object][] = []
  const note = (level: string) => (details: object) => void lines.push([level, details])
  const failures = Array.from({ length: 12 }, (_, n) => new Error(`organization ${n}: not now`))
  const job = openIdempotencyJob({
    expire: async () => ({ expired: 1, surplus: 2, failures }),
    log: { info: note('info'), warn: note('warn'), error: note('error') },
  })
  await job.first
  await job.close()
  expect(lines).toEqual([
    ['info', { expired: 1, surplus: 2 }],
    ['warn', { expired: 1, surplus: 2 }],
    ['error', { count: 12, reasons: failures.slice(0, 10).map(({ message }) => message) }],
  ])
})
