import { generateKeyPairSync } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type ClientTokenClaims,
  readTokenKid,
  signClientToken,
  verifyClientToken,
} from '../core/access/client-token.ts'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import {
  type IdentityProvider,
  KEYS,
  openIdentityProvider,
  toFederatedConfig,
} from '../testing/fakes/identity-provider.ts'
import { KeySetCache } from './key-set-cache.ts'
import { fetchKeySets } from './key-sets.ts'
import { verifyFederatedToken } from './verify-federated-token.ts'

const START = Date.parse('2031-05-14T10:30:00Z')

let idp: IdentityProvider
let config: FederatedConfig
let cache: KeySetCache
let now: number
beforeEach(async () => {
  idp = await openIdentityProvider()
  now = START
  cache = new KeySetCache({
    fetch: given => fetchKeySets(given, openConfiguredEgress({ allowPrivate: true })),
    clock: { now: () => now },
  })
  config = toFederatedConfig(idp)
})
afterEach(() => idp.close())

const verify = (token: string) => verifyFederatedToken(token, config, cache, now)

test('a hundred tokens cost one request to the provider', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 100 }, (_, index) => idp.sign({ sub: `u${index}` }, now)),
  )
  const results = await Promise.all(tokens.map(verify))
  expect(results.every(({ valid }) => valid)).toBe(true)
  expect(idp.asked).toEqual([KEYS])
})

test('a key that the provider added is found by one request, and tokens of the old key stay valid', async () => {
  const old = await idp.sign({}, now)
  expect(await verify(old)).toMatchObject({ valid: true })
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const added = { ...(await exportJWK(publicKey)), kid: 'two' }
  idp.answers.set(KEYS, { body: { keys: [idp.publicKey, added] } })
  now += 31_000
  const seconds = Math.floor(now / 1000)
  const token = await new SignJWT({
    iss: idp.issuer,
    aud: 'app',
    sub: 'bob',
    iat: seconds,
    exp: seconds + 60,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'two' })
    .sign(privateKey)
  const results = await Promise.all([verify(token), verify(token), verify(old)])
  expect(results.map(({ valid }) => valid)).toEqual([true, true, true])
  expect(idp.asked).toEqual([KEYS, KEYS])
})

test('a thousand tokens of invented keys cost one request in 30 seconds', async () => {
  const good = await idp.sign({}, now)
  await verify(good)
  for (let round = 0; round < 3; round++) {
    now += 30_000
    const kids = Array.from({ length: 333 }, (_, index) => `${round}-${index}`)
    const results = await Promise.all(kids.map(async kid => verify(await idp.sign({}, now, { kid }))))
    expect(results.every(({ valid }) => !valid)).toBe(true)
    expect(idp.asked).toHaveLength(2 + round)
  }
  expect(await verify(good)).toMatchObject({ valid: true })
})

describe('of two issuers, one that does not respond', () => {
  beforeEach(async () => {
    const other = await openIdentityProvider()
    await other.close()
    config = { ...config, jwksUrl: null, issuers: [other.issuer, idp.issuer] }
  })

  test('ends the sign-in of its own users only, also for a gateway that has just started', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await verify(await idp.sign({}, now))).toMatchObject({ valid: true })
      const [down = ''] = config.issuers
      await expect(verify(await idp.sign({ iss: down }, now))).rejects.toThrow('could not be fetched')
      now += 71 * 60_000
    }
  })

  test('does not hide the new keys of the other one', async () => {
    const stranger = await openIdentityProvider()
    await verify(await idp.sign({}, now))
    now += 31_000
    idp.answers.set(KEYS, { body: { keys: [{ ...stranger.publicKey, kid: 'two' }] } })
    const token = await stranger.sign({ iss: idp.issuer }, now, { kid: 'two' })
    await stranger.close()
    expect(await verify(token)).toMatchObject({ valid: true })
  })
})

test('the key set of jwks_url is fetched once for all issuers', async () => {
  config = { ...config, issuers: ['https://other.example', idp.issuer] }
  for (const iss of config.issuers) {
    expect(await verify(await idp.sign({ iss }, now))).toMatchObject({ valid: true })
  }
  expect(idp.asked).toEqual([KEYS])
})

test('text that is no token, and a token of another issuer, cause no request for new keys', async () => {
  await verify(await idp.sign({}, now))
  now += 60_000
  for (const token of ['x', 'a.b.c', await idp.sign({ iss: 'https://other.example' }, now, { kid: 'two' })]) {
    expect(await verify(token)).toMatchObject({ valid: false })
  }
  expect(idp.asked).toEqual([KEYS])
})

test.each(
  [undefined, 'EdDSA', 'Ed25519'].flatMap(ofKey => ['EdDSA', 'Ed25519'].map(alg => ({ ofKey, alg }))),
)(
  'a key for $ofKey verifies a token of $alg, which RFC 9864 makes the same algorithm',
  async ({ ofKey, alg }) => {
    const { privateKey, publicKey } = await generateKeyPair('Ed25519')
    const key = {
      ...(await exportJWK(publicKey)),
      kid: 'one',
      ...(ofKey === undefined ? {} : { alg: ofKey }),
    }
    idp.answers.set(KEYS, { body: { keys: [key] } })
    config = { ...config, algorithms: ['EdDSA'] }
    const seconds = Math.floor(now / 1000)
    const claims = { iss: idp.issuer, aud: 'app', sub: 'bob', iat: seconds, exp: seconds + 60 }
    const token = await new SignJWT(claims).setProtectedHeader({ alg, kid: 'one' }).sign(privateKey)
    expect(await verify(token)).toEqual({ valid: true, endUserId: 'bob', plan: null })
  },
)

test('a key set of 10 MB is refused by its size, and is not fetched again for each token', async () => {
  idp.answers.set(KEYS, { body: ' '.repeat(10 * 1024 * 1024) })
  const token = await idp.sign({}, now)
  for (let attempt = 0; attempt < 20; attempt++) {
    await expect(verify(token)).rejects.toThrow('larger than 512 KiB')
  }
  expect(idp.asked).toEqual([KEYS])
})

test('keys are kept without the fields that verification does not need', async () => {
  const jwk = { ...idp.publicKey, x5c: ['A'.repeat(100_000)], 'x-own': 'y', key_ops: ['verify'] }
  const { kid: _, ...nameless } = idp.publicKey
  const keys = [
    jwk,
    { ...nameless, kid: 'k'.repeat(3000) },
    { ...nameless, kid: 7 },
    { ...nameless, key_ops: ['sign'] },
  ]
  idp.answers.set(KEYS, { body: { keys } })
  const sets = await cache.get(config)
  expect(sets.get(idp.issuer)?.keys).toEqual([idp.publicKey])
  expect(await verify(await idp.sign({}, now))).toMatchObject({ valid: true })
})

test("an identity provider's ES256 token is never a client token, and a client token never an identity token", async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const iat = now / 1000
  const claims: ClientTokenClaims = {
    iss: idp.issuer,
    aud: 'rideau',
    sub: 'alice',
    org: 'o',
    prj: 'p',
    env: 'e',
    scope: 'ai.chat',
    plan: null,
    amr: 'secret_key',
    pk: 'k',
    ver: 1,
    iat,
    nbf: iat,
    exp: iat + 900,
    jti: 'j',
  }
  const clientToken = signClientToken(claims, { kid: 'one', privateKey })
  const check = (token: string) =>
    readTokenKid(token) === undefined
      ? 'no client token'
      : verifyClientToken(token, publicKey, { issuer: idp.issuer, now })
  expect(check(clientToken)).toEqual(claims)

  // A project could name this gateway as its identity provider: issuer, key set and audience fit, the type does not.
  idp.answers.set(KEYS, { body: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] } })
  config = { ...config, audiences: ['rideau'] }
  expect(await verify(clientToken)).toEqual({ valid: false, reason: expect.stringContaining('typ') })

  // A provider could copy every claim, the header and the kid: the key is not the gateway's.
  const copied = await idp.sign({ ...claims }, now, { typ: 'ct+jwt' })
  expect(check(copied)).toBe('invalid_key')
  // Even with the gateway's own key, a token of type JWT is no client token.
  const own = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'JWT' })
    .sign(privateKey)
  expect(check(own)).toBe('no client token')
})
