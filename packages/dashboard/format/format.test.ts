import { describe, expect, test } from 'vitest'
import { toChange, toCount, toDuration, toPercent } from './amounts.ts'
import { toAlignedMoney, toMoney, toPrice } from './money.ts'
import { toBucketTime, toClockTime, toDateTime, toDay, toRelativeTime, toReset } from './times.ts'

test.each([
  [112, 100, '+12\u00a0%'],
  [94.8, 100, '−5.2\u00a0%'],
  [0, 3, '−100\u00a0%'],
  [100.05, 100, 'no change'],
  [5_000, 4, '+124,900\u00a0%'],
  [1, 0, undefined],
])('writes the change to %s from %s as %s', (value, before, text) => {
  expect(toChange(value, before)).toBe(text)
})

describe('toMoney', () => {
  test.each([
    [null, 'unpriced'],
    [0, '$0'],
    [0.000412, '$0.000412'],
    [0.0000004, '$0.0000004'],
    [0.0041249, '$0.00412'],
    [0.0100001, '$0.0100'],
    [0.5, '$0.5000'],
    [0.99999, '$1.00'],
    [3.2, '$3.20'],
    [12_345.678, '$12,345.68'],
    [-0.002, '-$0.002'],
  ])('writes %s as %s', (usd, text) => {
    expect(toMoney(usd)).toBe(text)
  })
})

test.each([
  [0.4, '0.4 ms'],
  [2, '2 ms'],
  [412.4, '412 ms'],
  [999.7, '1.00 s'],
  [3210, '3.21 s'],
  [59_996, '1 min 00 s'],
  [125_000, '2 min 05 s'],
])('writes %s ms as %s', (ms, text) => {
  expect(toDuration(ms)).toBe(text)
})

test.each([
  [0, '0\u00a0%'],
  [0.0002, '<0.1\u00a0%'],
  [0.009, '0.9\u00a0%'],
  [1, '100\u00a0%'],
  [20_520, '2,052,000\u00a0%'],
])('writes a share of %s as %s', (share, text) => {
  expect(toPercent(share)).toBe(text)
})

test.each([
  [null, 'unpriced'],
  [0, '$0'],
  [0.0000004, '<$0.000001'],
  [0.00000666, '$0.000007'],
  [0.0112, '$0.011200'],
  [1_204.5, '$1,204.500000'],
  [-0.002, '-$0.002000'],
])('writes the cost %s of a column as %s', (usd, text) => {
  expect(toAlignedMoney(usd)).toBe(text)
})

test('separates thousands', () => {
  expect(toCount(48_211)).toBe('48,211')
})

test.each([
  [0.5, '$0.50'],
  [1.2, '$1.20'],
  [0.075, '$0.075'],
  [1500, '$1,500.00'],
])('toPrice: %d is %s', (usd, text) => {
  expect(toPrice(usd)).toBe(text)
})

describe('times', () => {
  test('a reset at midnight of the zone is a day, and else a day and a time', () => {
    expect(toReset(Date.UTC(2026, 10, 30, 23), 'Europe/Berlin')).toBe('resets 1 Dec')
    expect(toReset(Date.UTC(2026, 10, 30, 23), 'UTC')).toBe('resets 30 Nov, 23:00')
  })

  const at = Date.UTC(2026, 10, 22, 13, 3, 7, 140)
  test('are written in the zone that is asked for', () => {
    expect(toDateTime(at, 'Europe/Berlin')).toBe('22 Nov 2026, 14:03:07')
    expect(toDateTime(at, 'Asia/Kolkata')).toBe('22 Nov 2026, 18:33:07')
    expect(toClockTime(at, 'UTC')).toBe('13:03:07.1')
    expect(toDay(Date.UTC(2026, 10, 22, 23, 30), 'Europe/Berlin')).toBe('23 Nov')
    expect([60, 10_800, 86_400].map(seconds => toBucketTime(at, seconds, 'UTC'))).toEqual([
      '13:03',
      '22 Nov 13:03',
      '22 Nov',
    ])
  })

  test.each([
    [0, 'now'],
    [120_000, '2 min ago'],
    [3 * 3_600_000, '3 h ago'],
    [24 * 3_600_000, '1 day ago'],
    [3 * 24 * 3_600_000, '3 days ago'],
    [-2 * 3_600_000, 'in 2 h'],
  ])('%s ms before now are written as %s', (distance, text) => {
    expect(toRelativeTime(at - distance, at)).toBe(text)
  })
})
