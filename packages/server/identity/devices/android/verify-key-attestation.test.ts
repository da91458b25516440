import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  assertKey,
  attestKey,
  createAndroidDevice,
  createKeyAttestationAuthority,
  KEY_DESCRIPTION_ID,
  type KeyParts,
  writeKeyDescription,
} from '../../../testing/fakes/android-device.ts'
import { authorityExtensions, createAuthority } from '../../../testing/fakes/certificate-writer.ts'
import { boolean, der, integer, octets, sequence } from '../../../testing/fakes/der-writer.ts'
import { parseTrustAnchors } from '../x509/trust-anchor.ts'
import { KEY_ATTESTATION_ROOTS } from './key-attestation-roots.ts'
import { parseRevocationList } from './revocation-list.ts'
import { verifyKeyAssertion } from './verify-key-assertion.ts'
import { type KeyAttestationInput, verifyKeyAttestation } from './verify-key-attestation.ts'

const NOW = Date.UTC(2031, 4, 14)
const CHALLENGE = 'tHLCQtpqTCLkJQfP9cbpfuTIMU_bASaBREGye_FPGaQ'
const DIGEST = 'ab'.repeat(32)

const authority = createKeyAttestationAuthority()
const roots = parseTrustAnchors(authority.rootPem)
const device = createAndroidDevice()
const genuine: KeyParts = {
  challenge: CHALLENGE,
  packageNames: ['com.example.app'],
  signingDigests: [DIGEST],
}

function verify(parts: Partial<KeyParts> = {}, change: Partial<KeyAttestationInput> = {}) {
  return verifyKeyAttestation({
    certificateChain: attestKey(authority, device, { ...genuine, ...parts }),
    keyId: device.keyId,
    attestationChallenge: Buffer.from(CHALLENGE, 'utf8'),
    packageNames: ['com.example.other', 'com.example.app'],
    signingDigests: ['cd'.repeat(32), DIGEST],
    revokedSerials: new Set(),
    now: NOW,
    roots,
    ...change,
  })
}

const rejected = (reason: string) => ({ valid: false, reason: expect.stringContaining(reason) })
const leafWith = (value: Buffer): Partial<KeyParts> => ({
  leaf: { extensions: [{ id: KEY_DESCRIPTION_ID, value }] },
})

test("the roots are Google's, and end in 2042 and 2035", () => {
  const ends = KEY_ATTESTATION_ROOTS.map(({ notAfter }) => new Date(notAfter).toISOString())
  expect(ends).toEqual(['2042-03-15T18:07:48.000Z', '2035-07-15T22:32:18.000Z'])
})

test.each([
  [1, 'trusted_environment'],
  [2, 'strongbox'],
])('accepts a key of security level %i: %s', (level, securityLevel) => {
  expect(verify({ levels: [level, level] })).toEqual({
    valid: true,
    packageName: 'com.example.app',
    publicKey: device.publicKey.export({ type: 'spki', format: 'der' }),
    securityLevel,
    signingDigests: ['ab'.repeat(32)],
  })
})

describe('rejects a key', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  test.each<[string, Partial<KeyParts>, string]>([
    ['of software', { levels: [0, 0] }, 'secure hardware'],
    ['whose attestation is of another level', { levels: [1, 2] }, 'secure hardware'],
    ['of an unknown level', { levels: [3, 3] }, 'secure hardware'],
    ['for another challenge', { challenge: `${CHALLENGE}=` }, 'another challenge'],
    ['that was imported', { origin: 2 }, 'not generated'],
    ['that cannot sign', { purpose: 3 }, 'not for signing'],
    ['of an unlocked device', { deviceLocked: boolean(false) }, 'unlocked'],
    ['of a device with another system', { bootState: 1 }, "maker's"],
    ['of a device that did not verify its system', { bootState: 2 }, "maker's"],
    ['whose root of trust the system wrote', { isRootOfTrustInSoftware: true }, 'how the device was started'],
    ['whose BOOLEAN has a third spelling', { deviceLocked: der(0x01, Buffer.from([1])) }, 'BOOLEAN'],
    ['of another app', { packageNames: ['com.example.App'] }, 'another app'],
    ['of several apps', { packageNames: ['com.example.app', 'com.example.other'] }, 'several apps'],
    ['of no app', { packageNames: [] }, 'several apps'],
    ['of an app with another signer', { signingDigests: ['00'.repeat(32)] }, 'signing certificate'],
    [
      'of an app with another signer besides',
      { signingDigests: [DIGEST, '00'.repeat(32)] },
      'signing certificate',
    ],
    ['of an app without a signer', { signingDigests: [] }, 'signing certificate'],
    ['of RSA', { leaf: { publicKey: rsa } }, 'P-256'],
    ['that has no description', { leaf: { extensions: [] } }, 'no key description'],
    ['whose description is cut', leafWith(writeKeyDescription(genuine).subarray(0, -1)), 'DER'],
    [
      'whose description has seven parts',
      leafWith(sequence(...Array.from({ length: 7 }, () => integer(1)))),
      'eight parts',
    ],
    ['whose description is no list', leafWith(octets('x')), 'DER'],
  ])('%s', (_, parts, reason) => {
    expect(verify(parts)).toEqual(rejected(reason))
  })

  test('with another key id', () => {
    expect(verify({}, { keyId: createAndroidDevice().keyId })).toEqual(rejected('key id'))
  })
})

describe('rejects a chain', () => {
  const chain = attestKey(authority, device, genuine)

  test('to another root, without its root, out of order, too short or too long', () => {
    const [leaf = Buffer.alloc(0), ...others] = chain
    const given = (certificateChain: Buffer[]) => verify({}, { certificateChain })
    expect(verify({}, { roots: KEY_ATTESTATION_ROOTS })).toEqual(rejected('known root'))
    expect(given(chain.slice(0, -1))).toEqual(rejected('known root'))
    expect(given([leaf, ...others.toReversed()])).toEqual(rejected('known root'))
    expect(given([leaf])).toEqual(rejected('2 to 6'))
    expect(given([])).toEqual(rejected('2 to 6'))
    expect(given([...chain, ...chain])).toEqual(rejected('2 to 6'))
    expect(given([leaf, ...others.slice(1)])).toEqual(rejected('another issuer'))
    expect(given([authority.root.certificate, authority.root.certificate])).toEqual(
      rejected('no key description'),
    )
    expect(given([...chain.slice(0, -1), Buffer.alloc(24 * 1024)])).toEqual(rejected('24 KiB'))
  })

  test('with a certificate of the same key as its root and another name is that root: only the key counts', () => {
    const { root } = authority
    const again = createAuthority('Root of another year', undefined, { keys: root })
    expect(verify({}, { certificateChain: [...chain.slice(0, -1), again.certificate] }).valid).toBe(true)
  })

  test('if an attested key prolongs it, also if that key claims to be a CA', () => {
    const [deviceIssuer] = authority.issuers
    const extension = { id: KEY_DESCRIPTION_ID, value: writeKeyDescription(genuine) }
    const attested = createAuthority('Attested key', deviceIssuer, {
      extensions: [...authorityExtensions(), extension],
    })
    const forged = attestKey({ ...authority, issuers: [attested, ...authority.issuers] }, device, genuine)
    expect(verify({}, { certificateChain: forged })).toEqual(
      rejected('issuing certificate has a key description'),
    )
  })

  test('with a revoked or suspended certificate, in each place', () => {
    for (const serial of ['1', '5', '4', '3']) {
      const list = parseRevocationList({ entries: { [`00${serial}`]: { status: 'REVOKED' } } })
      expect(verify({}, { revokedSerials: list ?? new Set() })).toEqual(rejected('revoked'))
    }
    const list = parseRevocationList({ entries: { 6: { status: 'REVOKED' } } })
    expect(verify({}, { revokedSerials: list ?? new Set() }).valid).toBe(true)
  })

  test('if its issuers have expired', () => {
    expect(verify({}, { now: Date.UTC(2061, 0) })).toEqual(rejected('expired'))
  })
})

describe('the list of revoked certificates', () => {
  test('gives the serials of revoked and suspended ones, in lower case and without leading zeros', () => {
    const entries = {
      '6681152659205225093': { status: 'REVOKED', reason: 'KEY_COMPROMISE' },
      '0CC66E9a': { status: 'SUSPENDED' },
    }
    expect(parseRevocationList({ entries })).toEqual(new Set(['6681152659205225093', 'cc66e9a']))
    expect(parseRevocationList({ entries: {} })).toEqual(new Set())
  })

  test.each([
    null,
    [],
    'text',
    {},
    { entries: [] },
    { entries: { xyz: { status: 'REVOKED' } } },
    { entries: { '': { status: 'REVOKED' } } },
    { entries: { 12: 'REVOKED' } },
    { entries: { 12: {} } },
  ])('%j is no such list', document => {
    expect(parseRevocationList(document)).toBeUndefined()
  })
})

describe('an assertion', () => {
  const publicKey = device.publicKey.export({ type: 'spki', format: 'der' })
  const check = (counter: number, storedCounter: number, change: object = {}) =>
    verifyKeyAssertion({
      assertion: assertKey(device, CHALLENGE, counter),
      publicKey,
      challenge: CHALLENGE,
      counter,
      storedCounter,
      ...change,
    })

  test('is accepted with a larger counter only, up to 2^32 - 1', () => {
    for (const [counter, stored] of [
      [1, 0],
      [2 ** 31, 7],
      [2 ** 32 - 1, 2 ** 32 - 2],
    ] as const) {
      expect(check(counter, stored)).toEqual({ valid: true, counter })
      expect(check(counter, counter)).toEqual(rejected('counter'))
    }
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32])(
    'is rejected with the counter %d',
    counter => {
      const assertion = assertKey(device, CHALLENGE, 1)
      expect(check(1, 0, { counter, assertion })).toEqual(rejected('counter'))
    },
  )

  test('is rejected for another challenge or counter, by another key, empty or too long', () => {
    expect(check(1, 0, { challenge: 'other' })).toEqual(rejected('signature'))
    expect(check(1, 0, { counter: 2 })).toEqual(rejected('signature'))
    expect(check(1, 0, { assertion: assertKey(createAndroidDevice(), CHALLENGE, 1) })).toEqual(
      rejected('signature'),
    )
    expect(check(1, 0, { assertion: Buffer.alloc(0) })).toEqual(rejected('signature'))
    expect(check(1, 0, { assertion: Buffer.alloc(73) })).toEqual(rejected('too long'))
  })
})
