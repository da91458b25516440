import fc from 'fast-check'
import { expect, test } from 'vitest'
import { debitTokens, returnToken, takeToken, toBucketRate } from './token-bucket.ts'

test('a full bucket gives its burst at once, then one token per interval', () => {
  const rate = toBucketRate(10, 5)
  const bucket = { fullAt: 0 }
  for (let i = 0; i < 50; i++) expect(takeToken(bucket, rate, 1_000)).toBe(0)
  expect(takeToken(bucket, rate, 1_000)).toBeCloseTo(100)
  expect(takeToken(bucket, rate, 1_099)).toBeCloseTo(1)
  expect(takeToken(bucket, rate, 1_100)).toBe(0)
  expect(takeToken(bucket, rate, 1_100)).toBeCloseTo(100)
})

test('a rate below one per second holds at least one token', () => {
  const rate = toBucketRate(0.1, 5)
  const bucket = { fullAt: 0 }
  expect(takeToken(bucket, rate, 0)).toBe(0)
  expect(takeToken(bucket, rate, 0)).toBeCloseTo(10_000)
})

test('a returned token can be taken again', () => {
  const rate = toBucketRate(1, 1)
  const bucket = { fullAt: 0 }
  expect(takeToken(bucket, rate, 0)).toBe(0)
  returnToken(bucket, rate)
  expect(takeToken(bucket, rate, 0)).toBe(0)
  expect(takeToken(bucket, rate, 0)).toBeGreaterThan(0)
})

test('after a clock is set back by an hour, no caller waits longer than for an empty bucket', () => {
  const rate = toBucketRate(10, 5)
  const bucket = { fullAt: 0 }
  for (let i = 0; i < 50; i++) takeToken(bucket, rate, 3_600_000)
  expect(takeToken(bucket, rate, 0)).toBeCloseTo(100)
  expect(takeToken(bucket, rate, 100)).toBe(0)
})

test('owes what was given out elsewhere, one full bucket at most', () => {
  const rate = toBucketRate(10, 5)
  const bucket = { fullAt: 0 }
  debitTokens(bucket, rate, 60, 1_000)
  expect(takeToken(bucket, rate, 1_000)).toBeCloseTo(1_100)
  expect(takeToken(bucket, rate, 2_100)).toBe(0)
  debitTokens(bucket, rate, 1_000_000, 2_100)
  expect(takeToken(bucket, rate, 2_100)).toBeCloseTo(5_100)
})

test('never gives more in any span than the burst and what the rate adds, and gives one to who waited as told', () => {
  const gaps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 300 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 50 }), (waits, perSecond) => {
      const rate = toBucketRate(perSecond, 2)
      const burst = Math.max(1, perSecond * 2)
      const bucket = { fullAt: 0 }
      const taken: number[] = []
      let now = 0
      for (const wait of waits) {
        now += wait
        const told = takeToken(bucket, rate, now)
        if (told > 0) expect(takeToken({ ...bucket }, rate, now + told)).toBe(0)
        else taken.push(now)
      }
      for (let first = 0; first < taken.length; first++) {
        for (let last = first; last < taken.length; last++) {
          const span = (taken[last] as number) - (taken[first] as number)
          expect(last - first + 1).toBeLessThanOrEqual(burst + (span * perSecond) / 1000 + 1e-6)
        }
      }
    }),
  )
})
