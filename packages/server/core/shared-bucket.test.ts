import { expect, test } from 'vitest'
import { noteTaken, type SharedBucket, takeReported } from './shared-bucket.ts'
import { takeToken, toBucketRate } from './token-bucket.ts'

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
      for (const other of buckets) if (other !== bucket) takeReported(other, rate, reported, 1000)
    }
  }
  return { taken, reports }
}

test.each([1, 2, 8])(
  'a bucket that %i processes share gives at most a sixteenth for each more than one does',
  count => {
    const { taken, reports } = empty(count, 100, 5)
    expect(taken).toBeGreaterThanOrEqual(500)
    expect(taken).toBeLessThanOrEqual(500 + count * Math.ceil(500 / 16))
    expect(reports).toBeLessThanOrEqual(16 + count)
  },
)

test('a bucket of few tokens is exact', () => {
  expect(empty(4, 2, 5).taken).toBe(10)
})

test('reported tokens never empty a bucket for longer than it takes to fill', () => {
  const rate = toBucketRate(100, 5)
  const bucket: SharedBucket = { fullAt: 0, unreported: 0 }
  takeReported(bucket, rate, 100_000, 1000)
  expect(takeToken(bucket, rate, 1000)).toBe(10)
  expect(takeToken(bucket, rate, 1010)).toBe(0)
})
