import { hash, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type AttestationParts,
  assertApp,
  attestApp,
  createAppAttestAuthority,
  createAppAttestDevice,
  toCoseKey,
} from '../../../testing/fakes/app-attest-device.ts'
import { type CborInput, encodeCbor } from '../../../testing/fakes/cbor-writer.ts'
import { authorityExtensions, createAuthority } from '../../../testing/fakes/certificate-writer.ts'
import { hashClientData } from '../client-data.ts'
import { parseTrustAnchors } from '../x509/trust-anchor.ts'
import { APP_ATTESTATION_ROOTS } from './app-attestation-roots.ts'
import { verifyAppAssertion } from './verify-app-assertion.ts'
import {
  type AppAttestationInput,
  MAX_ATTESTATION_BYTES,
  verifyAppAttestation,
} from './verify-app-attestation.ts'

const NOW = Date.UTC(2031, 4, 14)
const APP = 'ABCDE12345.com.example.app'
const CHALLENGE = 'tHLCQtpqTCLkJQfP9cbpfuTIMU_bASaBREGye_FPGaQ'

const authority = createAppAttestAuthority()
const roots = parseTrustAnchors(authority.rootPem)
const device = createAppAttestDevice()
const point = device.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)

function verify(parts: Partial<AttestationParts> = {}, change: Partial<AppAttestationInput> = {}) {
  return verifyAppAttestation({
    attestation: attestApp(authority, device, { appId: APP, challenge: CHALLENGE, ...parts }),
    keyId: device.keyId,
    clientDataHash: hashClientData(CHALLENGE),
    appIds: ['ABCDE12345.com.example.other', APP],
    environment: 'production',
    now: NOW,
    roots,
    ...change,
  })
}

const rejected = (reason: string) => ({ valid: false, reason: expect.stringContaining(reason) })

test("the root is Apple's, by its fingerprint, and ends in 2045", () => {
  expect(APP_ATTESTATION_ROOTS).toHaveLength(1)
  expect(new Date(APP_ATTESTATION_ROOTS[0]?.notAfter ?? 0).toISOString()).toBe('2045-03-15T00:00:00.000Z')
})

describe('accepts an attestation', () => {
  test('returns the app, the key and the receipt', () => {
    expect(verify()).toEqual({
      valid: true,
      appId: APP,
      publicKey: device.publicKey.export({ type: 'spki', format: 'der' }),
      counter: 0,
      receipt: Buffer.from('receipt'),
      validationCategory: null,
      bundleVersion: null,
    })
  })

  test.each([0x40, 0xc0])('with extensions, whatever the flags %i say, and returns what they say', flags => {
    const extensions = new Map<string, CborInput>([
      ['apple_bundle_version_01', '1.2.3'],
      ['apple_validation_category_01', Buffer.from([4, 0, 0, 0])],
      ['apple_later', [true, null, 7]],
    ])
    expect(verify({ flags, extensions })).toMatchObject({
      valid: true,
      validationCategory: 4,
      bundleVersion: '1.2.3',
    })
    expect(verify({ flags })).toMatchObject({ valid: true })
  })

  test('for the development environment if that is the configured one', () => {
    const environment = 'development'
    expect(verify({ environment: 'appattestdevelop' }, { environment })).toMatchObject({ valid: true })
    expect(verify({}, { environment })).toEqual(rejected('another environment'))
  })
})

describe('rejects an attestation', () => {
  const other = createAppAttestDevice()
  const stranger = createAppAttestAuthority()

  test.each<[string, Partial<AttestationParts>, string]>([
    ['of another format', { format: 'packed' }, 'another format'],
    ['for another app', { appId: 'ABCDE12345.com.example.App' }, 'another app'],
    ['for another challenge', { challenge: 'other' }, 'nonce'],
    ['of the development environment', { environment: 'appattestdevelop' }, 'another environment'],
    ['of an unknown environment', { environment: 'appattestsandbox' }, 'another environment'],
    ['with a counter', { counter: 1 }, 'counter'],
    ['without the flag for a key', { flags: 0x80 }, 'no key'],
    ['with a credential id of another length', { keyIdLength: 16 }, '32 bytes'],
    ['with extensions that are no map', { extensions: [] }, 'one map'],
    ['with bytes after the key', { tail: Buffer.from([0]) }, 'one map'],
    ['with a second map', { extensions: new Map(), tail: Buffer.from([0xa0]) }, 'one map'],
    ['with another COSE key', { coseKey: toCoseKey(Buffer.alloc(65)) }, 'COSE key'],
    ['with a COSE key of six fields', { coseKey: new Map([...toCoseKey(point), [4, 0]]) }, 'five fields'],
    ['with another nonce', { nonce: Buffer.alloc(32) }, 'nonce'],
    [
      'with a nonce twice',
      { leafExtensions: [{ id: '1.2.840.113635.100.8.2', value: Buffer.alloc(38) }] },
      'twice',
    ],
    ['whose leaf is a CA', { leafExtensions: authorityExtensions() }, 'is a CA'],
    ['whose leaf has expired', { leaf: { notAfter: NOW - 1 } }, 'expired'],
    ['whose leaf is not valid yet', { leaf: { notBefore: NOW + 1000 } }, 'not valid yet'],
    ['whose leaf has another key', { leaf: { publicKey: other.publicKey } }, 'key id'],
    ['whose leaf another CA signed', { leaf: { issuer: stranger.issuer } }, 'signature'],
    ['with one certificate', { chain: leaf => [leaf] }, 'two certificates'],
    ['with the certificates in the other order', { chain: (leaf, issuer) => [issuer, leaf] }, 'nonce'],
    ['with a chain that is no list', { chain: () => new Map() }, 'two certificates'],
    ['with a certificate that is text', { chain: (_, issuer) => ['leaf', issuer] }, 'no bytes'],
    [
      'with the root',
      { chain: (leaf, issuer) => [leaf, issuer, authority.root.certificate] },
      'two certificates',
    ],
    [
      'whose leaf the root issued itself',
      { leaf: { issuer: authority.root }, chain: leaf => [leaf, authority.root.certificate] },
      'contains the root',
    ],
    [
      'of another authority with the same names',
      { leaf: { issuer: stranger.issuer }, chain: leaf => [leaf, stranger.issuer.certificate] },
      'signature of the issuing',
    ],
  ])('%s', (_, parts, reason) => {
    expect(verify(parts)).toEqual(rejected(reason))
  })

  test('if its issuer has expired or may not issue', () => {
    for (const [change, reason] of [
      [{ notAfter: NOW - 1 }, 'issuing (1) certificate has expired'],
      [{ extensions: [] }, 'may not issue'],
    ] as const) {
      const issuer = createAuthority('Test App Attestation CA 1', authority.root, change)
      const chain = (leaf: Buffer) => [leaf, issuer.certificate]
      expect(verify({ leaf: { issuer }, chain })).toEqual(rejected(reason))
    }
  })

  test('with another key id, without a root, without an app', () => {
    expect(verify({}, { keyId: other.keyId })).toEqual(rejected('key id'))
    expect(verify({}, { roots: [] })).toEqual(rejected('known root'))
    expect(verify({}, { roots: APP_ATTESTATION_ROOTS })).toEqual(rejected('known root'))
    expect(verify({}, { appIds: [] })).toEqual(rejected('another app'))
  })

  test('if it has more than 16 KiB', () => {
    expect(verify({}, { attestation: Buffer.alloc(MAX_ATTESTATION_BYTES + 1) })).toEqual(rejected('16 KiB'))
  })

  test.each([
    ['a list', []],
    ['a map without a statement', new Map([['fmt', 'apple-appattest']])],
    [
      'other fields',
      new Map([
        ['fmt', ''],
        ['attStmt', ''],
        ['authData', ''],
        ['x', ''],
      ]),
    ],
  ])('if it is CBOR of %s', (_, value) => {
    expect(verify({}, { attestation: encodeCbor(value) })).toEqual(rejected('other fields'))
  })
})

describe('an assertion', () => {
  const attested = verify()
  const publicKey = attested.valid ? attested.publicKey : Buffer.alloc(0)
  const check = (counter: number, storedCounter: number, change: object = {}) =>
    verifyAppAssertion({
      assertion: assertApp(device, { appId: APP, challenge: CHALLENGE, counter }),
      publicKey,
      clientDataHash: hashClientData(CHALLENGE),
      appId: APP,
      storedCounter,
      ...change,
    })

  test('is accepted with a larger counter only, up to 2^32 - 1', () => {
    const none = { validationCategory: null, bundleVersion: null }
    for (const [counter, stored] of [
      [1, 0],
      [900, 5],
      [2 ** 31, 2 ** 31 - 1],
      [2 ** 32 - 1, 2 ** 31],
    ] as const) {
      expect(check(counter, stored)).toEqual({ valid: true, counter, ...none })
      expect(check(counter, counter)).toEqual(rejected('counter'))
    }
    expect(check(0, 0)).toEqual(rejected('counter'))
  })

  test('is rejected for another challenge, another app, by another key', () => {
    expect(check(1, 0, { clientDataHash: hashClientData('other') })).toEqual(rejected('signature'))
    expect(check(1, 0, { appId: 'ABCDE12345.com.example.other' })).toEqual(rejected('another app'))
    const { publicKey: key } = createAppAttestDevice()
    const other = key.export({ type: 'spki', format: 'der' })
    expect(check(1, 0, { publicKey: other })).toEqual(rejected('signature'))
  })

  test('is rejected if it is an attestation, empty or too large', () => {
    const attestation = attestApp(authority, device, { appId: APP, challenge: CHALLENGE })
    expect(check(1, 0, { assertion: attestation })).toEqual(rejected('two fields'))
    expect(check(1, 0, { assertion: Buffer.alloc(0) })).toEqual(rejected('CBOR'))
    expect(check(1, 0, { assertion: Buffer.alloc(2049) })).toEqual(rejected('2 KiB'))
    expect(
      check(1, 0, {
        assertion: encodeCbor(
          new Map([
            ['signature', 1],
            ['authenticatorData', 2],
          ]),
        ),
      }),
    ).toEqual(rejected('no bytes'))
  })
})

test('Node reads the certificates of this test as valid', () => {
  const issuer = new X509Certificate(authority.issuer.certificate)
  expect(issuer.ca).toBe(true)
  expect(issuer.verify(authority.root.publicKey)).toBe(true)
  expect(issuer.checkIssued(new X509Certificate(authority.root.certificate))).toBe(true)
  expect(hash('sha256', point, 'hex')).toBe(device.keyId.toString('hex'))
})
