import { expect, test } from 'vitest'
import { CHART_UNITS } from './chart-units.ts'

test.each([
  ['count', 0, '0'],
  ['count', 0.5, ''],
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
  ['usd', 0.0000005, '$0.0000005'],
  ['usd', 3, '$3'],
  ['usd', 1_200, '$1.2K'],
] as const)('writes a tick of %s at %s as "%s"', (unit, value, text) => {
  expect(CHART_UNITS[unit].toTick(value)).toBe(text)
})
