import type { JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { type IdentityProvider, openIdentityProvider } from '../testing/fakes/identity-provider.ts'
import { readVectorFiles } from '../testing/harness/attestation-vectors.ts'
import type { KeySets } from './key-sets.ts'
import { verifyIdentityToken } from './verify-identity-token.ts'

const NOW = Date.parse('2031-05-14T10:30:00Z')
const SECONDS = NOW / 1000

let idp: IdentityProvider
let config: FederatedConfig
let keySets: KeySets
beforeAll(async () => {
  idp = await openIdentityProvider()
  keySets = new Map([[idp.issuer, { keys: [idp.publicKey] }]])
  config = {
    issuers: [idp.issuer],
    audiences: ['app'],
    authorizedParties: [],
    jwksUrl: null,
    algorithms: ['RS256', 'ES256'],
    userIdClaim: 'sub',
    planClaim: 'plan',
    requiredClaims: {},
    clockToleranceSeconds: 30,
    maxTokenAgeSeconds: 3600,
  }
})
afterAll(() => idp.close())

const verify = async (
  claims: Record<string, unknown>,
  change: Partial<FederatedConfig> = {},
  header: Record<string, unknown> = {},
) => verifyIdentityToken(await idp.sign(claims, NOW, header), { ...config, ...change }, keySets, NOW)
const accepted = (endUserId = 'alice', plan: string | null = null) => ({ valid: true, endUserId, plan })

describe('accepts', () => {
  test.each<[Record<string, unknown>, ReturnType<typeof accepted>]>([
    [{}, accepted()],
    [{ plan: 'pro' }, accepted('alice', 'pro')],
    [{ plan: null }, accepted()],
    [{ sub: 'auth0|ü' }, accepted('auth0|ü')],
    [{ aud: ['other', 'app'] }, accepted()],
    [{ exp: SECONDS - 29 }, accepted()],
    [{ iat: SECONDS + 29 }, accepted()],
    [{ nbf: SECONDS + 29 }, accepted()],
    [{ iat: SECONDS - 3600, exp: SECONDS + 60 }, accepted()],
  ])('%j', async (claims, identity) => {
    expect(await verify(claims)).toEqual(identity)
  })

  test('a fresh token that lives for longer than max_token_age_seconds', async () => {
    expect(await verify({ exp: SECONDS + 3600 }, { maxTokenAgeSeconds: 300 })).toEqual(accepted())
  })

  test('a user id in another claim, and the type JWT', async () => {
    const identity = await verify({ sub: undefined, uid: 'bob' }, { userIdClaim: 'uid' }, { typ: 'jwt' })
    expect(identity).toEqual(accepted('bob'))
  })

  test('an authorized party in azp or client_id', async () => {
    const parties = { audiences: [], authorizedParties: ['web'] }
    expect(await verify({ aud: undefined, azp: 'web' }, parties)).toEqual(accepted())
    expect(await verify({ aud: undefined, client_id: 'web' }, parties)).toEqual(accepted())
  })

  test('a required claim with one of its values, also in a list', async () => {
    const requiredClaims = { role: ['user', 'admin'], verified: [true] }
    expect(await verify({ role: 'admin', verified: true }, { requiredClaims })).toEqual(accepted())
    expect(await verify({ role: ['x', 'user'], verified: true }, { requiredClaims })).toEqual(accepted())
  })
})

describe('rejects, with a reason', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ iss: 'https://other.example' }, 'iss'],
    [{ iss: undefined }, 'iss'],
    [{ aud: 'App' }, 'aud'],
    [{ aud: [] }, 'aud'],
    [{ aud: undefined }, 'aud'],
    [{ exp: SECONDS - 31 }, 'expired'],
    [{ exp: undefined }, 'exp'],
    [{ exp: 1e300 }, 'lives'],
    [{ exp: SECONDS + 10 * 365 * 86400 }, 'lives'],
    [{ nbf: SECONDS + 31 }, 'nbf'],
    [{ iat: undefined }, 'iat'],
    [{ iat: SECONDS + 31 }, 'future'],
    [{ iat: SECONDS - 3631 }, 'older'],
    [{ sub: undefined }, 'sub'],
    [{ sub: '' }, 'sub'],
    [{ sub: 7 }, 'sub'],
    [{ sub: ['a'] }, 'sub'],
    [{ sub: 'a\u0000' }, 'sub'],
    [{ sub: 'x'.repeat(256) }, 'sub'],
    [{ sub: 'device:abc' }, 'reserved'],
    [{ sub: 'member:abc' }, 'reserved'],
    [{ plan: { name: 'pro' } }, 'plan'],
    [{ plan: 'x'.repeat(65) }, 'plan'],
  ])('%j: %s', async (claims, word) => {
    const identity = await verify(claims)
    expect(identity).toEqual({ valid: false, reason: expect.stringContaining(word) })
  })

  test.each(['at+jwt', 'logout+jwt', 'ct+jwt'])('a token of type %s', async typ => {
    expect(await verify({}, {}, { typ })).toEqual({ valid: false, reason: expect.stringContaining('typ') })
  })

  test('a party that is not authorized, and a token without one', async () => {
    const parties = { audiences: [], authorizedParties: ['web'] }
    const refusal = { valid: false, reason: expect.stringContaining('azp') }
    expect(await verify({ azp: 'Web' }, parties)).toEqual(refusal)
    expect(await verify({}, parties)).toEqual(refusal)
    expect(await verify({ azp: 'evil', client_id: 'web' }, parties)).toEqual(refusal)
  })

  test('a required claim that is missing, has another value, or another type', async () => {
    const refusal = { valid: false, reason: expect.stringContaining('required_claims') }
    expect(await verify({}, { requiredClaims: { role: ['user'] } })).toEqual(refusal)
    expect(await verify({ role: 'User' }, { requiredClaims: { role: ['user'] } })).toEqual(refusal)
    expect(await verify({ n: '1' }, { requiredClaims: { n: [1] } })).toEqual(refusal)
  })

  test('another spelling of the same signature', async () => {
    const token = await idp.sign({}, NOW, {})
    const bytes = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url')
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const spellings = [...letters].map(last => token.slice(0, -1) + last)
    const same = spellings.filter(each => each !== token && bytes(each).equals(bytes(token)))
    expect(same.length).toBeGreaterThan(2)
    for (const each of same) {
      expect(await verifyIdentityToken(each, config, keySets, NOW)).toMatchObject({ valid: false })
    }
    expect(await verifyIdentityToken(token, config, keySets, NOW)).toEqual(accepted())
  })

  test('a signature by another key, an algorithm that is not allowed, an unknown kid', async () => {
    const stranger = await openIdentityProvider()
    const forged = await stranger.sign({ iss: idp.issuer }, NOW)
    await stranger.close()
    expect(await verifyIdentityToken(forged, config, keySets, NOW)).toEqual({
      valid: false,
      reason: 'Its signature is wrong.',
    })
    expect(await verify({}, { algorithms: ['RS256'] })).toMatchObject({ valid: false })
    expect(await verify({}, {}, { kid: 'two' })).toMatchObject({ valid: false })
  })

  test.each([
    '',
    'x',
    'a.b',
    'a.b.c',
    'e30.e30.e30',
    'eyJhbGciOiJub25lIn0.e30.',
    `${'a'.repeat(20_000)}.b.c`,
  ])('text that is not a token: %.40s', async token => {
    expect(await verifyIdentityToken(token, config, keySets, NOW)).toMatchObject({ valid: false })
  })
})

interface HostileTokens {
  readonly now: string
  readonly config: Pick<FederatedConfig, 'audiences' | 'authorizedParties' | 'algorithms' | 'planClaim'> & {
    readonly issuer: string
  }
  readonly jwks: JSONWebKeySet
  readonly vectors: readonly {
    readonly name: string
    readonly token: string
    readonly expect: string
    readonly sub?: string
    readonly plan?: string
  }[]
}

describe.each(readVectorFiles<HostileTokens>('jwt-adversarial.json', 57))('hostile tokens, set $#', file => {
  test.each(file.vectors)('$name: $expect', async vector => {
    const given = file.config
    const hostile: FederatedConfig = {
      ...config,
      issuers: [given.issuer],
      audiences: given.audiences,
      authorizedParties: vector.name.includes('azp') ? given.authorizedParties : [],
      algorithms: given.algorithms,
      planClaim: given.planClaim,
      maxTokenAgeSeconds: 86400,
    }
    const sets = new Map([[given.issuer, file.jwks]])
    const identity = await verifyIdentityToken(vector.token, hostile, sets, Date.parse(file.now))
    if (vector.expect !== 'any') expect(identity.valid).toBe(vector.expect === 'accept')
    if (identity.valid && vector.sub !== undefined) expect(identity.endUserId).toBe(vector.sub)
    if (identity.valid && 'plan' in vector) expect(identity.plan).toBe(vector.plan)
  })
})
test.each([[['']], [{}], [1], [false], ['at+jwt']])('rejects a header typ of %j', async typ => {
  const reason = 'Its header typ is not JWT.'
  expect(await verify({}, {}, { typ })).toEqual({ valid: false, reason })
})
