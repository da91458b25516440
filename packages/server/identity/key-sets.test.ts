import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import {
  DISCOVERY,
  type IdentityProvider,
  KEYS,
  openIdentityProvider,
  toFederatedConfig,
} from '../testing/fakes/identity-provider.ts'
import { measureLongestTick } from '../testing/harness/longest-tick.ts'
import { FederatedConfigError, fetchKeySets, type KeySets } from './key-sets.ts'

const LOOPBACK = openConfiguredEgress({ allowPrivate: true })

let idp: IdentityProvider
beforeEach(async () => {
  idp = await openIdentityProvider()
})
afterEach(() => idp.close())

const toConfig = (change: Partial<FederatedConfig> = {}): FederatedConfig =>
  toFederatedConfig(idp, { jwksUrl: null, ...change })

/** The setting at fault and the message of a configuration that does not work. */
async function failWith(change: Partial<FederatedConfig> = {}, policy = LOOPBACK): Promise<[string, string]> {
  const error = await fetchKeySets(toConfig(change), policy).catch(failure => failure)
  expect(error).toBeInstanceOf(FederatedConfigError)
  return [error.field, error.message]
}

async function createKey(algorithm: string): Promise<{ publicJwk: JWK; privateJwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { publicJwk: await exportJWK(publicKey), privateJwk: await exportJWK(privateKey) }
}

describe('the key set of an issuer', () => {
  test('is found by OpenID Connect discovery', async () => {
    const sets = await fetchKeySets(toConfig(), LOOPBACK)
    expect(sets.get(idp.issuer)?.keys.map(key => key.kid)).toEqual(['one'])
    expect(idp.asked).toEqual([DISCOVERY, KEYS])
  })

  test('comes from jwks_url without discovery, once for all issuers', async () => {
    const issuers = ['https://a.example', 'https://b.example']
    const sets = await fetchKeySets(toConfig({ issuers, jwksUrl: idp.jwksUrl }), LOOPBACK)
    expect([...sets.keys()]).toEqual(issuers)
    expect(idp.asked).toEqual([KEYS])
  })

  test('keeps public signing keys for its algorithms only', async () => {
    const [own, rsa] = [idp.publicKey, await createKey('RS256')]
    const secret = { kty: 'oct', k: 'c2VjcmV0' }
    const { privateJwk } = await createKey('ES256')
    const keys = [{ ...own, use: 'enc' }, secret, privateJwk, { kty: 'EC', crv: 'P-256' }, rsa.publicJwk, own]
    idp.answers.set(KEYS, { body: { keys } })
    const sets = await fetchKeySets(toConfig(), LOOPBACK)
    expect(sets.get(idp.issuer)?.keys).toEqual([own])
    const both = await fetchKeySets(toConfig({ algorithms: ['ES256', 'RS256'] }), LOOPBACK)
    expect(both.get(idp.issuer)?.keys).toEqual([rsa.publicJwk, own])
  })

  test('is read in short ticks', async () => {
    const { publicJwk } = await createKey('ES512')
    const keys = Array.from({ length: 50 }, (_, at) => ({ ...publicJwk, kid: `${at}` }))
    idp.answers.set(KEYS, { body: { keys } })
    const config = toConfig({ algorithms: ['ES512'] })
    let sets: KeySets | undefined
    const longestMs = await measureLongestTick(async () => (sets = await fetchKeySets(config, LOOPBACK)))
    expect(sets?.get(idp.issuer)?.keys).toHaveLength(50)
    expect(longestMs).toBeLessThan(25)
  })

  test.each([
    ['RS256', 'RS256', true],
    ['RS256', 'PS512', true],
    ['RS256', 'ES256', false],
    ['ES384', 'ES384', true],
    ['ES384', 'ES256', false],
    ['Ed25519', 'EdDSA', true],
  ] as const)('of a key for %s, with the algorithm %s: %s', async (type, algorithm, isAccepted) => {
    const { publicJwk } = await createKey(type)
    idp.answers.set(KEYS, { body: { keys: [publicJwk] } })
    if (isAccepted) {
      expect((await fetchKeySets(toConfig({ algorithms: [algorithm] }), LOOPBACK)).size).toBe(1)
    } else {
      const failure = ['algorithms', 'No key of the key set fits one of the algorithms.']
      expect(await failWith({ algorithms: [algorithm] })).toEqual(failure)
    }
  })

  test('does not fit if its key names another algorithm', async () => {
    idp.answers.set(KEYS, { body: { keys: [{ ...idp.publicKey, alg: 'ES384' }] } })
    expect((await failWith())[0]).toBe('algorithms')
  })

  test('with more than 50 keys is rejected', async () => {
    idp.answers.set(KEYS, { body: { keys: Array.from({ length: 51 }, () => idp.publicKey) } })
    expect(await failWith()).toEqual(['issuer', 'The key set has more than 50 keys.'])
  })

  test.each([
    ['no object', []],
    ['no keys', {}],
    ['keys that are no list', { keys: {} }],
    ['a key that is no object', { keys: ['x'] }],
  ])('with %s is rejected', async (_, body) => {
    idp.answers.set(KEYS, { body })
    expect(await failWith()).toEqual(['issuer', 'The key set is not a JSON Web Key Set.'])
    const failure = ['jwks_url', 'The key set is not a JSON Web Key Set.']
    expect(await failWith({ jwksUrl: idp.jwksUrl })).toEqual(failure)
  })

  test('of an RSA key with a large exponent, which makes each verification slow, is rejected', async () => {
    const { publicJwk } = await createKey('RS256')
    const e = Buffer.alloc(200, 0xff).toString('base64url')
    idp.answers.set(KEYS, { body: { keys: [{ ...publicJwk, e }] } })
    expect(await failWith({ algorithms: ['RS256'] })).toEqual([
      'issuer',
      'The key set has no public signing key.',
    ])
  })

  test('without a usable key is rejected', async () => {
    idp.answers.set(KEYS, { body: { keys: [] } })
    expect(await failWith()).toEqual(['issuer', 'The key set has no public signing key.'])
  })
})

test('each document is fetched by `run`, so that calls can be bounded', async () => {
  let running = 0
  let most = 0
  let waiting = Promise.resolve()
  const second = await openIdentityProvider()
  const one = <T>(call: () => Promise<T>): Promise<T> => {
    const result = waiting.then(async () => {
      most = Math.max(most, ++running)
      return await call().finally(() => running--)
    })
    waiting = result.then(() => undefined)
    return result
  }
  const sets = await fetchKeySets(toConfig({ issuers: [idp.issuer, second.issuer] }), LOOPBACK, one)
  await second.close()
  expect([...sets.keys()]).toEqual([idp.issuer, second.issuer])
  expect([most, idp.asked, second.asked]).toEqual([1, [DISCOVERY, KEYS], [DISCOVERY, KEYS]])
})

describe('a discovery document', () => {
  test('is rejected if it is of another issuer, also if they differ in a slash', async () => {
    const failure = ['issuer', "The issuer's discovery document names another issuer."]
    idp.answers.set(DISCOVERY, { body: { issuer: `${idp.issuer}/`, jwks_uri: idp.jwksUrl } })
    expect(await failWith()).toEqual(failure)
    const sets = await fetchKeySets(toConfig({ issuers: [`${idp.issuer}/`] }), LOOPBACK)
    expect([...sets.keys()]).toEqual([`${idp.issuer}/`])
  })

  test('without a key set is rejected', async () => {
    idp.answers.set(DISCOVERY, { body: { issuer: idp.issuer } })
    expect(await failWith()).toEqual(['issuer', "The issuer's discovery document names no key set."])
  })

  test.each([
    [
      'a redirect',
      { status: 302, headers: { location: '/x' }, body: '' },
      'its host responded with status 302',
    ],
    ['a failure', { status: 500, body: '' }, 'its host responded with status 500'],
    ['text that is not JSON', { body: '<html>' }, 'it is not JSON, or names a field twice'],
    [
      'a name that is given twice',
      { body: '{"issuer":"a","issuer":"b"}' },
      'it is not JSON, or names a field twice',
    ],
    ['many lists', { body: `[${'[],'.repeat(170_000)}[]]` }, 'it has too many values'],
    ['many numbers', { body: `[${'1,'.repeat(20_000)}1]` }, 'it has too many values'],
    [
      'lists in lists',
      { body: '['.repeat(200_000) + ']'.repeat(200_000) },
      'it is not JSON, or names a field twice',
    ],
    ['more than 512 KiB', { body: ' '.repeat(512 * 1024 + 1) }, 'it is larger than 512 KiB'],
  ])('is rejected with that reason if it is %s', async (_, answer, reason) => {
    idp.answers.set(DISCOVERY, answer)
    const message = `The issuer's discovery document could not be fetched: ${reason}.`
    expect(await failWith()).toEqual(['issuer', message])
  })

  test('on a host that does not respond is rejected without a detail of the failure', async () => {
    const { issuer } = idp
    await idp.close()
    expect(await failWith({ issuers: [issuer] })).toEqual([
      'issuer',
      "The issuer's discovery document could not be fetched: its host could not be reached.",
    ])
    idp = await openIdentityProvider()
  })

  test('on a private address is not fetched unless private addresses are allowed', async () => {
    const [field, message] = await failWith({}, openConfiguredEgress({ allowPrivate: false }))
    expect([field, message]).toEqual(['issuer', expect.stringContaining('could not be fetched: its address')])
    expect(idp.asked).toEqual([])
  })
})
