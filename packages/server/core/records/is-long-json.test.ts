import { expect, test } from 'vitest'
import { isLongJson } from './is-long-json.ts'

test.each([
  [{ a: 'x'.repeat(100) }],
  [{ ['x'.repeat(100)]: 1 }],
  [Array.from({ length: 101 }, () => 1)],
  [{ a: [{ b: ['x'.repeat(50), 'x'.repeat(50)] }] }],
])('is true for what has more than 100 characters: %j', value => {
  expect(isLongJson(value, 100)).toBe(true)
})

test.each([[{}], ['x'.repeat(98)], [[]], [{ a: 'x'.repeat(80), b: null, c: 1.5 }], [null]])(
  'is false for what may have 100 characters: %j',
  value => {
    expect(isLongJson(value, 100)).toBe(false)
  },
)
