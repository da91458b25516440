import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assertKey,
  attestKey,
  createAndroidDevice,
  createKeyAttestationAuthority,
} from '../../testing/fakes/android-device.ts'
import {
  assertApp,
  attestApp,
  createAppAttestAuthority,
  createAppAttestDevice,
} from '../../testing/fakes/app-attest-device.ts'
import { cborHead } from '../../testing/fakes/cbor-writer.ts'
import { der } from '../../testing/fakes/der-writer.ts'
import { verifyKeyAssertion } from './android/verify-key-assertion.ts'
import { verifyKeyAttestation } from './android/verify-key-attestation.ts'
import { verifyAppAssertion } from './apple/verify-app-assertion.ts'
import { verifyAppAttestation } from './apple/verify-app-attestation.ts'
import { hashClientData } from './client-data.ts'
import { type CborMap, decodeCbor } from './encoding/cbor.ts'
import { parseCertificate } from './x509/certificate.ts'
import { parseTrustAnchors } from './x509/trust-anchor.ts'

const NOW = Date.UTC(2031, 4, 14)
const APP = 'ABCDE12345.com.example.app'
const CHALLENGE = 'tHLCQtpqTCLkJQfP9cbpfuTIMU_bASaBREGye_FPGaQ'
const DIGEST = 'ab'.repeat(32)

const apple = createAppAttestAuthority()
const iphone = createAppAttestDevice()
const google = createKeyAttestationAuthority()
const phone = createAndroidDevice()
const iphoneKey = iphone.publicKey.export({ type: 'spki', format: 'der' })
const phoneKey = phone.publicKey.export({ type: 'spki', format: 'der' })

const attestation = attestApp(apple, iphone, { appId: APP, challenge: CHALLENGE })
const assertion = assertApp(iphone, { appId: APP, challenge: CHALLENGE, counter: 1 })
const chain = attestKey(google, phone, {
  challenge: CHALLENGE,
  packageNames: ['com.example.app'],
  signingDigests: [DIGEST],
})
const signature = assertKey(phone, CHALLENGE, 1)
const [appleRoots, googleRoots] = [parseTrustAnchors(apple.rootPem), parseTrustAnchors(google.rootPem)]

/** Each verifier on one text of bytes, everything else being genuine. */
const verifiers: Record<string, { genuine: Buffer; verify: (bytes: Buffer) => { readonly valid: boolean } }> =
  {
    'an attestation of Apple': {
      genuine: attestation,
      verify: bytes =>
        verifyAppAttestation({
          attestation: bytes,
          keyId: iphone.keyId,
          clientDataHash: hashClientData(CHALLENGE),
          appIds: [APP],
          environment: 'production',
          now: NOW,
          roots: appleRoots,
        }),
    },
    'an assertion of Apple': {
      genuine: assertion,
      verify: bytes =>
        verifyAppAssertion({
          assertion: bytes,
          publicKey: iphoneKey,
          clientDataHash: hashClientData(CHALLENGE),
          appId: APP,
          storedCounter: 0,
        }),
    },
    'an assertion of Android': {
      genuine: signature,
      verify: bytes =>
        verifyKeyAssertion({
          assertion: bytes,
          publicKey: phoneKey,
          challenge: CHALLENGE,
          counter: 1,
          storedCounter: 0,
        }),
    },
  }
for (const [index, certificate] of chain.entries()) {
  verifiers[`certificate ${index} of an Android chain`] = {
    genuine: certificate,
    verify: bytes =>
      verifyKeyAttestation({
        certificateChain: chain.with(index, bytes),
        keyId: phone.keyId,
        attestationChallenge: Buffer.from(CHALLENGE),
        packageNames: ['com.example.app'],
        signingDigests: [DIGEST],
        revokedSerials: new Set(),
        now: NOW,
        roots: googleRoots,
      }),
  }
}

/** The genuine bytes with a few of them changed, removed, repeated or replaced by others. */
function toChanged(genuine: Buffer): fc.Arbitrary<Buffer> {
  const at = fc.nat(genuine.length - 1)
  const change = fc.oneof(
    fc.tuple(at, fc.nat(255)).map(([index, byte]) => (bytes: Buffer) => {
      bytes[index] = byte
      return bytes
    }),
    fc.tuple(at, fc.nat(7)).map(([index, bit]) => (bytes: Buffer) => {
      bytes[index] = (bytes[index] ?? 0) ^ (1 << bit)
      return bytes
    }),
    at.map(index => (bytes: Buffer) => bytes.subarray(0, index)),
    fc.tuple(at, fc.nat(40)).map(
      ([index, length]) =>
        (bytes: Buffer) =>
          Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + length)]),
    ),
    fc.tuple(at, at).map(
      ([from, to]) =>
        (bytes: Buffer) =>
          Buffer.concat([bytes.subarray(0, from), bytes.subarray(Math.min(from, to))]),
    ),
    fc.tuple(at, fc.uint8Array({ maxLength: 12 })).map(
      ([index, others]) =>
        (bytes: Buffer) =>
          Buffer.concat([bytes.subarray(0, index), others, bytes.subarray(index)]),
    ),
  )
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map(changes => changes.reduce((bytes, apply) => Buffer.from(apply(bytes)), Buffer.from(genuine)))
}

/** What of the bytes counts: not the receipt, whose signature is not verified, and of the client's copy of the root only the key. */
function toCounted(name: string, bytes: Buffer): unknown {
  if (name === `certificate ${chain.length - 1} of an Android chain`) return parseCertificate(bytes).publicKey
  if (name !== 'an attestation of Apple') return bytes
  const { fmt, attStmt, authData } = Object.fromEntries(decodeCbor(bytes) as CborMap)
  return [fmt, (attStmt as CborMap).get('x5c'), authData]
}

describe.each(Object.entries(verifiers))('%s', (name, { genuine, verify }) => {
  test('is accepted unchanged', () => {
    expect(verify(genuine).valid).toBe(true)
  })

  test('gives a verdict for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), bytes => {
        expect(verify(Buffer.from(bytes)).valid).toBe(false)
      }),
    )
  })

  test('gives a verdict for each change, and is accepted only if nothing that counts was changed', () => {
    fc.assert(
      fc.property(toChanged(genuine), changed => {
        const { valid } = verify(changed)
        if (valid) expect(toCounted(name, changed)).toEqual(toCounted(name, genuine))
      }),
      { numRuns: 500 },
    )
  })

  test('is rejected where it is cut at any byte', () => {
    for (let length = 0; length < genuine.length; length++) {
      expect(verify(genuine.subarray(0, length)).valid).toBe(false)
    }
  })

  test.each([
    ['1 MiB of zeros', Buffer.alloc(1024 * 1024)],
    ['1 MiB of nested lists of CBOR', Buffer.alloc(1024 * 1024, 0x81)],
    ['1 MiB of nested lists of DER', Buffer.alloc(1024 * 1024, 0x30)],
    ['16 KiB of nested maps', Buffer.alloc(16 * 1024, 0xa1)],
    ['8 KiB of empty elements', der(0x30, Buffer.alloc(8000, Buffer.from([0x30, 0])))],
    ['bytes of 4 GiB that are not there', cborHead(2, 2 ** 32)],
    ['an element of 16 MiB that is not there', Buffer.from([0x30, 0x83, 0xff, 0xff, 0xff])],
    ['the genuine object and 1 MiB behind it', Buffer.concat([genuine, Buffer.alloc(1024 * 1024)])],
  ])('is rejected as %s', (_, bytes) => {
    expect(verify(bytes).valid).toBe(false)
  })
})
