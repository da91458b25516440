import { expect, test } from 'vitest'
import { RestFactor } from './rest-factor.ts'

const LATE_MS = 2.5
const IN_TIME_MS = 2

/** Ticks at 10 ms intervals from `from` on, each so late. */
function tick(
  rest: RestFactor,
  { from, count, lateMs }: { from: number; count: number; lateMs: number },
): number {
  for (let at = 0; at < count; at++) rest.noteTick(from + at * 10 - lateMs, from + at * 10)
  return from + count * 10
}

test('is 2 at first, and stays 2 while ticks are in time', () => {
  const rest = new RestFactor()
  expect(rest.at(0)).toBe(2)
  const now = tick(rest, { from: 1_000, count: 1_000, lateMs: IN_TIME_MS })
  expect(rest.at(now)).toBe(2)
})

test('grows by 1 with a late tick, up to 8', () => {
  const rest = new RestFactor()
  rest.noteTick(5_000 - LATE_MS, 5_000)
  expect(rest.at(5_000)).toBe(3)
  const now = tick(rest, { from: 5_010, count: 100, lateMs: LATE_MS })
  expect(rest.at(now - 10)).toBe(8)
})

test('shrinks by 1 in a second without a late tick, down to 2, however many ticks there are', () => {
  const rest = new RestFactor()
  const lastLate = tick(rest, { from: 0, count: 100, lateMs: LATE_MS }) - 10
  expect(rest.at(lastLate + 1_000)).toBe(7)
  tick(rest, { from: lastLate + 10, count: 500, lateMs: IN_TIME_MS })
  expect(rest.at(lastLate + 5_000)).toBe(3)
  expect(rest.at(lastLate + 60_000)).toBe(2)
})
