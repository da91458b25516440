import { expect, test } from 'vitest'
import { findRest } from './credential-rest.ts'

test.each([
  ['auth', 401, undefined, { ms: 60_000, isDoubtful: false }],
  ['auth', 403, undefined, { ms: 60_000, isDoubtful: true }],
  ['quota', 402, undefined, { ms: 60_000, isDoubtful: true }],
  ['quota', 429, 1_000, { ms: 60_000, isDoubtful: false }],
  ['rate_limited', 429, undefined, { ms: 3_000, isDoubtful: false }],
  ['rate_limited', 429, 20_000, { ms: 20_000, isDoubtful: false }],
  ['rate_limited', 413, undefined, undefined],
  ['overloaded', 529, 5_000, { ms: 5_000, isDoubtful: false }],
  ['overloaded', 529, undefined, undefined],
  ['unavailable', 503, 5_000, undefined],
  ['bad_request', 400, undefined, undefined],
] as const)('%s with status %i and Retry-After of %s ms: %j', (kind, status, retryAfterMs, expected) => {
  const error = { kind, status, detail: '', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  expect(findRest(error, false)).toEqual(expected)
})

test('the only credential of a target rests only where its provider names a time', () => {
  expect(findRest({ kind: 'auth', status: 401, detail: '' }, true)).toBeUndefined()
  expect(findRest({ kind: 'rate_limited', status: 429, detail: '' }, true)).toBeUndefined()
  const named = { kind: 'rate_limited', status: 429, detail: '', retryAfterMs: 2_000 } as const
  expect(findRest(named, true)).toEqual({ ms: 2_000, isDoubtful: false })
})
