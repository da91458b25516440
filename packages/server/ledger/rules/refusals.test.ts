import { describe, expect, test } from 'vitest'
import { type MeterKind, type MeterSettings, makeMeter, T } from '../testing/make-meter.ts'
import { fits, longerWait, toRefusal, toStatus } from './refusals.ts'

const MAX = Number.MAX_SAFE_INTEGER

describe('room on a meter', () => {
  test.each<[boolean, number, number, number, number]>([
    [true, 10, 0, 0, 10],
    [false, 10, 0, 0, 11],
    [true, 10, 4, 5, 1],
    [false, 10, 4, 5, 2],
    [true, 0, 0, 0, 0],
    [false, 0, 0, 0, 1],
    // Over the limit already: not even a request that adds nothing fits.
    [false, 10, 11, 0, 0],
    [true, MAX, MAX - 2, 1, 1],
    [false, MAX, MAX - 2, 1, 2],
    [false, MAX, MAX, MAX, MAX],
  ])('is %s: limit %i, settled %i, reserved %i, wanted %i', (expected, limit, settled, reserved, wanted) => {
    expect(fits(limit, settled, reserved, wanted)).toBe(expected)
  })
})

describe('the reset and retry times', () => {
  const day: MeterSettings = { since: T, end: T + 86_400_000 }
  test.each<[string, MeterKind, MeterSettings, number, number | null, number | null]>([
    ['a rate: when its entries leave the window', 'rate', { windowMs: 1000 }, 1, T + 1005, T + 1009],
    ['a wanted amount above the limit: never', 'token_rate', { windowMs: 1000 }, 11, T + 1005, null],
    ['a fixed window: its end', 'tokens', day, 1, T + 86_400_000, T + 86_400_000],
    ['more than a whole fixed window: never', 'tokens', day, 11, T + 86_400_000, null],
    ['total: never', 'budget', { end: null }, 1, null, null],
    ['concurrency: unknown', 'concurrency', {}, 1, null, null],
  ])('for %s', (_, kind, settings, wanted, resetAt, retryAt) => {
    const meter = makeMeter(kind, 10, settings)
    const [oldestAt, blockingAt] = meter.kind === 'rolling' ? [T + 5, T + 9] : [null, null]
    const refusal = toRefusal(meter, 4, 6, oldestAt, wanted, blockingAt)
    expect(refusal).toEqual({ meter, settled: 4, reserved: 6, resetAt, wanted, retryAt })
    expect(toStatus(meter, 4, 6, oldestAt)).toEqual({ meter, settled: 4, reserved: 6, resetAt })
  })

  test('are null for a rate without entries', () => {
    expect(toStatus(makeMeter('rate', 10), 0, 0, null).resetAt).toBeNull()
  })
})

describe('longerWait', () => {
  const meters = {
    concurrency: makeMeter('concurrency', 0),
    second: makeMeter('rate', 1, { windowMs: 1000 }),
    minute: makeMeter('rate', 1, { windowMs: 60_000 }),
    day: makeMeter('budget', 1, { end: T + 86_400_000 }),
    never: makeMeter('budget', 1, { end: null }),
  }
  const order = Object.keys(meters) as (keyof typeof meters)[]
  const refusalOf = (name: keyof typeof meters) => toRefusal(meters[name], 1, 0, T, 1, T)

  test.each(
    order.flatMap((shorter, index) => order.slice(index + 1).map(longer => [shorter, longer] as const)),
  )('returns the second of %s and %s', (shorter, longer) => {
    const [first, second] = [refusalOf(shorter), refusalOf(longer)]
    expect(longerWait(first, second)).toBe(second)
    expect(longerWait(second, first)).toBe(second)
  })

  test('returns the first of two refusals with equal waits', () => {
    const [first, second] = [refusalOf('day'), refusalOf('day')]
    expect(longerWait(first, second)).toBe(first)
    expect(longerWait(undefined, second)).toBe(second)
  })
})
