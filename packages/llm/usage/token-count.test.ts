import { expect, test } from 'vitest'
import type { Json } from '../json/json-value.ts'
import { anyCountOrZero, countOrZero, findCount, findWholeCount, parseWholeCount } from './token-count.ts'

const NOT_COUNTS: readonly (Json | undefined)[] = [
  undefined,
  null,
  '',
  'x',
  -1,
  Number.NaN,
  Infinity,
  [1],
  {},
]

test('a value that is not a count is undefined or 0, as the name says', () => {
  for (const value of NOT_COUNTS) {
    expect([findCount(value), findWholeCount(value), parseWholeCount(value)]).toEqual(
      Array(3).fill(undefined),
    )
    expect([countOrZero(value), anyCountOrZero(value)]).toEqual([0, 0])
  }
})

test('a fraction is rounded up, or is not a whole count', () => {
  expect([findCount(1.2), countOrZero(1.2), anyCountOrZero(1.2)]).toEqual([2, 2, 2])
  expect([findWholeCount(1.2), parseWholeCount(1.2), parseWholeCount('1.2')]).toEqual(
    Array(3).fill(undefined),
  )
})

test('a count above a thousand million is a mistake, unless the caller has a bound of its own', () => {
  const most = 1_000_000_000
  expect([findCount(most), countOrZero(most), findWholeCount(most)]).toEqual([most, most, most])
  expect([findCount(most + 1), countOrZero(most + 1), findWholeCount(most + 1)]).toEqual([
    undefined,
    0,
    undefined,
  ])
  expect([anyCountOrZero(most + 1), anyCountOrZero(2 ** 53)]).toEqual([most + 1, 0])
})

test('the text of a whole number is read only where a header may have it', () => {
  expect([findCount('7'), countOrZero('7'), anyCountOrZero('7'), findWholeCount('7')]).toEqual([
    undefined,
    0,
    0,
    undefined,
  ])
  expect(parseWholeCount('7')).toBe(7)
})
