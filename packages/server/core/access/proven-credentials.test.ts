import { expect, test } from 'vitest'
import { ProvenCredentials } from './proven-credentials.ts'

/** More than are remembered. */
const MANY = 60_000

test.each(['key', 'token'] as const)(
  'whoever has very many valid credentials of the kind %s pushes out its own only',
  kind => {
    const proven = new ProvenCredentials()
    proven.add('honest', kind, 'an organization')
    for (let at = 0; at < MANY; at++) proven.add(`${at}`, kind, 'another one')
    expect(['honest', '0', `${MANY - 1}`].map(digest => proven.has(digest))).toEqual([true, false, true])
  },
)

test('a credential that was refused is not proven', () => {
  const proven = new ProvenCredentials()
  proven.add('digest', 'token', 'an organization')
  proven.delete('digest')
  expect(proven.has('digest')).toBe(false)
})
