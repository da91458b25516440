import { expect, test } from 'vitest'
import { chooseTimeout } from './attempt-timeout.ts'

test.each([
  ['nobody names one', undefined, undefined, 300_000],
  ['the alias leaves it to the request', undefined, null, 300_000],
  ['only the caller names one', 600_000, undefined, 600_000],
  ['only the alias names one, also above the default', undefined, 600_000, 600_000],
  ['only the alias names one, below the default', undefined, 1_000, 1_000],
  ["the caller's is shorter", 400_000, 600_000, 400_000],
  ["the alias's is shorter", 400_000, 1_000, 1_000],
])('%s', (_title, asked, timeoutMs, expected) => {
  expect(chooseTimeout(asked, timeoutMs === undefined ? undefined : { timeoutMs })).toBe(expected)
})
