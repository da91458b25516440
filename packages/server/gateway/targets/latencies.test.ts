import { beforeEach, expect, test } from 'vitest'
import { Latencies } from './latencies.ts'

let now: number
let latencies: Latencies
beforeEach(() => {
  now = 1_000_000
  latencies = new Latencies(() => now)
})

test('averages measurements with more weight on the newest', () => {
  expect(latencies.readOrClaim('a')).toBeUndefined()
  latencies.note('org', 'a', 100)
  expect(latencies.readOrClaim('a')).toBe(100)
  latencies.note('org', 'a', 200)
  expect(latencies.readOrClaim('a')).toBeCloseTo(130)
  expect(latencies.readOrClaim('b')).toBeUndefined()
})

test('puts a target last after a failure, until the next success', () => {
  latencies.note('org', 'a', 100)
  latencies.noteFailure('org', 'a')
  expect(latencies.readOrClaim('a')).toBe(Number.POSITIVE_INFINITY)
  latencies.note('org', 'a', 50)
  expect(latencies.readOrClaim('a')).toBe(50)
})

test('lets one request repeat an old measurement while the others use the old value', () => {
  latencies.note('org', 'a', 100)
  now += 5 * 60_000
  expect(latencies.readOrClaim('a')).toBe(100)
  now += 1
  expect(latencies.readOrClaim('a')).toBeUndefined()
  expect(latencies.readOrClaim('a')).toBe(100)
})

test('forgets the oldest targets, whether they answered or failed', () => {
  latencies.note('org', 'oldest', 100)
  for (let at = 0; at < 10_000; at += 1) latencies.noteFailure('org', `failed-${at}`)
  expect(latencies.readOrClaim('oldest')).toBeUndefined()
  expect(latencies.readOrClaim('failed-0')).toBe(Number.POSITIVE_INFINITY)
  latencies.note('org', 'newest', 100)
  expect(latencies.readOrClaim('failed-0')).toBeUndefined()
})

test('keeps the targets of an organization while another one has very many', () => {
  latencies.note('victim', 'own', 100)
  for (let at = 0; at < 20_000; at += 1) latencies.note('org', `target-${at}`, 50)
  expect(latencies.readOrClaim('own')).toBe(100)
})
