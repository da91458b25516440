import { generateKeyPairSync, sign } from 'node:crypto'
import {
  type ClientTokenClaims,
  MAX_TOKEN_SECONDS,
  readTokenKid,
  signClientToken,
  verifyClientToken,
} from '../../packages/server/core/access/client-token.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual, attempt } from '../oracle.ts'

const NOW = Date.UTC(2031, 4, 14)
const SECONDS = NOW / 1000
const KID = 'k'.repeat(43)
const ISSUER = 'https://rideau.example'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const CLAIMS: ClientTokenClaims = {
  iss: ISSUER,
  aud: 'rideau',
  sub: 'user',
  org: 'o',
  prj: 'p',
  env: 'e',
  scope: 'chat',
  plan: null,
  amr: 'secret_key',
  pk: 'key',
  ver: 1,
  iat: SECONDS - 10,
  nbf: SECONDS - 10,
  exp: SECONDS + 600,
  jti: 'id',
}

const GENUINE = signClientToken(CLAIMS, { kid: KID, privateKey })
const verify = (text: string) => verifyClientToken(text, publicKey, { issuer: ISSUER, now: NOW })

export const seeds = [
  '\x00\x01\x00\x10\x00a',
  '\x01a.b.c',
  `\x02${JSON.stringify(CLAIMS)}`,
  `\x02${JSON.stringify({ ...CLAIMS, exp: SECONDS - 1, plan: 'pro' })}`,
  `\x03${JSON.stringify({ alg: 'ES256', kid: KID, typ: 'ct+jwt' })}`,
].map(text => Buffer.from(text, 'latin1'))

function signPart(head: string, payload: string, key = privateKey): string {
  const text = `${head}.${payload}`
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const [HEAD = '', PAYLOAD = ''] = GENUINE.split('.')

/** Any change of the text of a token is noticed, whatever it decodes to. */
function checkEdited(text: string): void {
  const result = verify(text)
  if (text === GENUINE) assertEqual(result, CLAIMS, 'a genuine token is accepted')
  else assertEqual(result, 'invalid_key', 'a changed token is not accepted')
  const kid = readTokenKid(text)
  assert(kid === undefined || text.split('.')[0] !== HEAD || kid === KID, 'a key has one header')
}

/** The signer's own mistakes: only claims of the right types and times are accepted, as they were signed. */
function checkSigned(payload: Buffer): void {
  const result = verify(signPart(HEAD, payload.toString('base64url')))
  if (result === 'invalid_key') return
  const { value } = attempt(() => JSON.parse(payload.toString('utf8')) as Record<string, unknown>) as {
    value?: Record<string, unknown>
  }
  assert(
    value !== undefined && value.iss === ISSUER && value.aud === 'rideau' && value.ver === 1,
    'issuer and audience',
  )
  const [iat, nbf, exp] = [value.iat, value.nbf, value.exp].map(Number) as [number, number, number]
  assert(exp - iat <= MAX_TOKEN_SECONDS && nbf <= SECONDS + 60, 'a token lives for an hour at most')
  assertEqual(result === 'key_expired', exp <= SECONDS, 'a token ends in time')
  for (const name of ['sub', 'org', 'prj', 'env', 'scope', 'amr', 'jti'])
    assert(typeof value[name] === 'string', `${name} is a text`)
  if (result !== 'key_expired') assertEqual({ ...result }, { ...value }, 'the claims that were signed')
}

function checkHeader(header: Buffer): void {
  const text = signPart(header.toString('base64url'), PAYLOAD)
  const kid = readTokenKid(text)
  if (kid === undefined) return
  const written = signClientToken(CLAIMS, { kid, privateKey }).split('.')[0]
  assertEqual(written, header.toString('base64url'), 'a header is read only as it is written')
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const kind = input.byte() % 5
  if (kind === 0) checkEdited(edit(Buffer.from(GENUINE), input).toString('latin1'))
  else if (kind === 1) checkEdited(input.rest().toString('latin1'))
  else if (kind === 2) checkSigned(input.rest())
  else if (kind === 3) checkHeader(input.rest())
  else
    assertEqual(
      verify(signPart(HEAD, PAYLOAD, other.privateKey)),
      'invalid_key',
      'another key is not accepted',
    )
}
