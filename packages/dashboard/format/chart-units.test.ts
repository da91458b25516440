import { expect, test } from 'vitest'
import { CHART_UNITS, toAxisValues } from './chart-units.ts'

test.each([
  ['count', 0, '0'],
  ['count', 800, '800'],
  ['count', 2_500_000, '2.5M'],
  ['ms', 0, '0'],
  ['ms', 400, '400 ms'],
  ['ms', 2_500, '2.5 s'],
  ['ms', 80_000, '80 s'],
  ['ms', 150_000, '150 s'],
  ['ms', 900_000, '15 min'],
  ['usd', 0, '$0'],
  ['usd', 0.5, '$0.5'],
  ['usd', 0.25, '$0.25'],
  ['usd', 0.015, '$0.015'],
  ['usd', 0.0000005, '$0.0000005'],
  ['usd', 3, '$3'],
  ['usd', 1_200, '$1.2K'],
] as const)('writes a tick of %s at %s as "%s"', (unit, value, text) => {
  expect(CHART_UNITS[unit].toTick(value)).toBe(text)
})

test.each([
  [193, 4, 'count', [0, 50, 100, 150, 200]],
  [22, 4, 'count', [0, 10, 20, 30]],
  [22, 2, 'count', [0, 20, 40]],
  [1, 4, 'count', [0, 1]],
  [3, 4, 'count', [0, 1, 2, 3]],
  [200, 4, 'count', [0, 50, 100, 150, 200]],
  [11_540, 4, 'ms', [0, 5_000, 10_000, 15_000]],
  [0.12, 4, 'usd', [0, 0.05, 0.1, 0.15]],
  [0, 4, 'usd', [0, 1]],
] as const)('divides an axis up to %s into at most %s steps of %s: %j', (max, most, unit, values) => {
  expect(toAxisValues(max, most, unit).map(value => Number(value.toFixed(6)))).toEqual(values)
})
