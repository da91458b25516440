import { generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientTokenClaims, readTokenKid, signClientToken, verifyClientToken } from './client-token.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signer = { kid: 'the-kid', privateKey }
const NOW = Date.parse('2031-05-14T10:30:00Z')
const SECONDS = NOW / 1000
const ISSUER = 'https://gateway.example'

const claims: ClientTokenClaims = {
  iss: ISSUER,
  aud: 'rideau',
  sub: 'alice',
  org: 'o',
  prj: 'p',
  env: 'e',
  scope: 'ai.chat ai.embed',
  plan: null,
  amr: 'secret_key',
  pk: 'k',
  ver: 1,
  iat: SECONDS,
  nbf: SECONDS,
  exp: SECONDS + 900,
  jti: 'j',
}
const token = signClientToken(claims, signer)

const check = (text: string, now = NOW) =>
  readTokenKid(text) === undefined
    ? 'invalid_key'
    : verifyClientToken(text, publicKey, { issuer: ISSUER, now })

/** Signs any header and payload with the right key. */
function forge(header: object | string, payload: object | string): string {
  const encode = (part: object | string): string =>
    Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
  const text = `${encode(header)}.${encode(payload)}`
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const }
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
const HEADER = { alg: 'ES256', kid: 'the-kid', typ: 'ct+jwt' }

test('is a JWT signed with ES256 that others can decode and verify', () => {
  const [header = '', payload = '', signature = ''] = token.split('.')
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual(HEADER)
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(claims)
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' as const }
  const bytes = Buffer.from(`${header}.${payload}`)
  expect(verify('sha256', bytes, key, Buffer.from(signature, 'base64url'))).toBe(true)
})

test('returns the signed claims until the second of its expiry', () => {
  expect(readTokenKid(token)).toBe('the-kid')
  expect(check(token)).toEqual(claims)
  expect(check(token, NOW + 899_999)).toEqual(claims)
  expect(check(token, NOW + 900_000)).toBe('key_expired')
})

test('is invalid with any one character changed', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.='
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...alphabet), (at, letter) => {
      fc.pre(token[at] !== letter)
      expect(check(token.slice(0, at) + letter + token.slice(at + 1))).toBe('invalid_key')
    }),
    { numRuns: 2000 },
  )
})

test('is invalid with parts added, removed or taken from another token', () => {
  const other = signClientToken({ ...claims, sub: 'bob' }, signer).split('.')
  const own = token.split('.')
  fc.assert(
    fc.property(fc.tuple(fc.nat(1), fc.nat(1), fc.nat(1)), ([a, b, c]) => {
      fc.pre(!(a === b && b === c) && !(b === c))
      expect(check([[own, other][a]?.[0], [own, other][b]?.[1], [own, other][c]?.[2]].join('.'))).toBe(
        'invalid_key',
      )
    }),
  )
  for (const text of [
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token.slice(0, -1),
    `${token}.`,
    '',
  ]) {
    expect(check(text)).toBe('invalid_key')
  }
})

describe('any other header is invalid, even with a right signature', () => {
  test.each([
    { ...HEADER, alg: 'none' },
    { ...HEADER, alg: 'HS256' },
    { ...HEADER, alg: 'es256' },
    { ...HEADER, typ: 'JWT' },
    { ...HEADER, typ: 'at+jwt' },
    { alg: 'ES256', kid: 'the-kid' },
    { alg: 'ES256', typ: 'ct+jwt' },
    { ...HEADER, crit: ['exp'] },
    { ...HEADER, jwk: publicKey.export({ format: 'jwk' }) },
    { ...HEADER, kid: 7 },
    '[]',
    'null',
    '{',
    '{"alg":"none","alg":"ES256","kid":"the-kid","typ":"ct+jwt"}',
  ])('%j', header => {
    expect(check(forge(header, claims))).toBe('invalid_key')
  })
})

describe('unexpected claims are invalid, even with a right signature', () => {
  test.each<object | string>([
    { ...claims, iss: 'https://other.example' },
    { ...claims, aud: 'other' },
    { ...claims, aud: ['rideau'] },
    { ...claims, sub: undefined },
    { ...claims, exp: undefined },
    { ...claims, exp: `${SECONDS + 900}` },
    { ...claims, exp: SECONDS + 3601 },
    { ...claims, nbf: SECONDS + 120, exp: SECONDS + 900 },
    { ...claims, plan: undefined },
    { ...claims, named_plan: 7 },
    { ...claims, ver: 2 },
    '[]',
    '"text"',
    '',
  ])('%j', payload => {
    expect(check(forge(HEADER, payload))).toBe('invalid_key')
  })
})

test('is invalid_key, not key_expired, if it is forged and expired', () => {
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  expect(check(signClientToken(claims, { kid: 'the-kid', privateKey: stranger }), NOW + 10 ** 9)).toBe(
    'invalid_key',
  )
})
