import { beforeEach, expect, test } from 'vitest'
import { Latencies } from './latencies.ts'

let now: number
let latencies: Latencies
beforeEach(() => {
  now = 1_000_000
  latencies = new Latencies(() => now)
})

test('an average that follows the newest measurements', () => {
  expect(latencies.find('a')).toBeUndefined()
  latencies.note('a', 100)
  expect(latencies.find('a')).toBe(100)
  latencies.note('a', 200)
  expect(latencies.find('a')).toBeCloseTo(130)
  expect(latencies.find('b')).toBeUndefined()
})

test('a failure puts a target last, and the next success forgets it', () => {
  latencies.note('a', 100)
  latencies.noteFailure('a')
  expect(latencies.find('a')).toBe(Number.POSITIVE_INFINITY)
  latencies.note('a', 50)
  expect(latencies.find('a')).toBe(50)
})

test('an old measurement is made anew by one request, while the others go by what was known', () => {
  latencies.note('a', 100)
  now += 5 * 60_000
  expect(latencies.find('a')).toBe(100)
  now += 1
  expect(latencies.find('a')).toBeUndefined()
  expect(latencies.find('a')).toBe(100)
})
