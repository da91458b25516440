import { expect, test } from 'vitest'
import { isFittingId, replaceForeign, withDigest } from './fitting-id.ts'

test('a short id keeps its length, each other character is one underscore', () => {
  expect(replaceForeign('a.b:c-d_e')).toBe('a_b_c-d_e')
  expect(withDigest('a.b')).toMatch(/^a_b_[0-9a-f]{8}$/)
})

test('a long id is cut, and those that begin alike stay different', () => {
  const ids = ['.', ':'].map(end => `${'.'.repeat(1_000_000)}${end}`)
  const [one, other] = ids.map(replaceForeign)
  expect(one).toMatch(/^_{200}_[0-9a-f]{8}$/)
  expect(one).not.toBe(other)
  expect(ids.map(withDigest)).toEqual([one, other])
})

test.each([
  ['aZ0_-', true],
  ['', true],
  ['a.b', false],
  ['aé', false],
])('%j has only what ids may have: %s', (id, isFitting) => expect(isFittingId(id)).toBe(isFitting))
