import { expect, test } from 'vitest'
import { describeCheckedLimits } from './checked-limits.ts'

const LIMIT = {
  kind: 'limit',
  id: 'a',
  scope: 'key',
  metric: 'requests',
  limit: 60,
  reserved: 1,
  remaining: 41,
} as const
const BUDGET = {
  kind: 'budget',
  id: 'b',
  scope: 'project',
  metric: 'usd',
  limit: 10,
  reserved: 0,
  remaining: 0.2,
} as const

test.each([
  ['', null],
  ['', []],
  [", checked the key's limit (1 of 60 requests, 41 left)", [{ ...LIMIT, refused: null }]],
  [
    ", refused by the project's budget ($0.5000 wanted, $0.2000 of $10.00 left)",
    [{ ...BUDGET, refused: 0.5 }],
  ],
  [
    ", checked the project's budget ($0.3000 of $10.00, $0.2000 left), which refused $0.5000 more, checked the key's limit (1 of 60 running, 41 left)",
    [
      { ...BUDGET, reserved: 0.3, refused: 0.5 },
      { ...LIMIT, metric: 'concurrency', refused: null },
    ],
  ],
] as const)('%s', (text, limits) => {
  expect(describeCheckedLimits(limits === null ? null : [...limits])).toBe(text)
})
