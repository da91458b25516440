import { expect, test } from 'vitest'
import { toSafeReturn } from './safe-return.ts'

test.each([
  ['/o/acme/default/production/logs?status=500', '/o/acme/default/production/logs?status=500'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  [undefined, '/'],
  [7, '/'],
])('after a sign-in, %s leads to %s', (next, path) => {
  expect(toSafeReturn(next)).toBe(path)
})
