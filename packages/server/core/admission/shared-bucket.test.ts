import { expect, test } from 'vitest'
import { noteTaken, type SharedBucket } from './shared-bucket.ts'
import { debitTokens, takeToken, toBucketRate } from './token-bucket.ts'

/** Makes processes take tokens until all are refused, one after the other. Returns how many they got. */
function empty(count: number, perSecond: number, burstSeconds: number): { taken: number; reports: number } {
  const rate = toBucketRate(perSecond, burstSeconds)
  const buckets = Array.from({ length: count }, (): SharedBucket => ({ fullAt: 0, unreported: 0 }))
  let [taken, reports, isRefused] = [0, 0, false]
  while (!isRefused) {
    isRefused = true
    for (const bucket of buckets) {
      if (takeToken(bucket, rate, 1000) > 0) continue
      isRefused = false
      taken++
      const reported = noteTaken(bucket, rate)
      if (reported === 0) continue
      reports++
      for (const other of buckets) if (other !== bucket) debitTokens(other, rate, reported, 1000)
    }
  }
  return { taken, reports }
}

test.each([1, 2, 8])(
  'a bucket that %i processes share gives at most a 64th for each more than one does',
  count => {
    const { taken, reports } = empty(count, 100, 5)
    expect(taken).toBeGreaterThanOrEqual(500)
    expect(taken).toBeLessThanOrEqual(500 + count * Math.ceil(500 / 64))
    expect(reports).toBeLessThanOrEqual(64 + count)
  },
)

test('a bucket of few tokens is exact', () => {
  expect(empty(4, 2, 5).taken).toBe(10)
})

test.each([2, 8, 64])('%i processes that take all they can for a minute get what one bucket gives', count => {
  const rate = toBucketRate(50, 10)
  const buckets = Array.from({ length: count }, (): SharedBucket => ({ fullAt: 0, unreported: 0 }))
  let taken = 0
  for (let now = 1000; now <= 61_000; now += 5) {
    // Reports come a step later.
    const reports: [SharedBucket, number][] = []
    for (const bucket of buckets) {
      // Each gets 2,000 requests a second.
      for (let asked = 0; asked < 10 && takeToken(bucket, rate, now) === 0; asked++) {
        taken++
        const reported = noteTaken(bucket, rate)
        if (reported > 0) reports.push([bucket, reported])
      }
    }
    for (const [from, reported] of reports) {
      for (const other of buckets) if (other !== from) debitTokens(other, rate, reported, now)
    }
  }
  expect(taken).toBeGreaterThanOrEqual(500 + 60 * 50)
  expect(taken).toBeLessThanOrEqual(500 + 60 * 50 + count * Math.ceil(500 / 64))
})
