import { expect, test } from 'vitest'
import { decodeError } from './decode-error.ts'

test.each([
  [400, 'auth'],
  [403, 'auth'],
  [500, 'unavailable'],
])('a %i whose details name a refused key is %s', (status, kind) => {
  const error = { code: status, message: 'x', details: [{ reason: 'API_KEY_INVALID' }] }
  expect(decodeError(status, {}, JSON.stringify({ error })).kind).toBe(kind)
})
