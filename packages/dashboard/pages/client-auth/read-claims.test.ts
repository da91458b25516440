import { expect, test } from 'vitest'
import { readClaims } from './read-claims.ts'

const toToken = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`

test('reads the claims of a token, names beyond ASCII included', () => {
  const token = toToken({ iss: 'https://id.example', aud: ['a', 'b'], sub: 'Zoë', iat: 5, exp: 1e300 })
  expect(readClaims(token)).toEqual({
    iss: 'https://id.example',
    aud: 'a, b',
    azp: undefined,
    sub: 'Zoë',
    iat: 5,
    exp: undefined,
  })
})

test.each(['', 'no token', 'a.b.c', `e30.${Buffer.from('null').toString('base64url')}.x`])(
  'returns undefined for what is no token: %j',
  text => expect(readClaims(text)).toBeUndefined(),
)
