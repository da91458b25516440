import { verifyKeyAssertion } from '../../packages/server/identity/devices/android/verify-key-assertion.ts'
import { verifyKeyAttestation } from '../../packages/server/identity/devices/android/verify-key-attestation.ts'
import { verifyAppAssertion } from '../../packages/server/identity/devices/apple/verify-app-assertion.ts'
import { verifyAppAttestation } from '../../packages/server/identity/devices/apple/verify-app-attestation.ts'
import { hashClientData } from '../../packages/server/identity/devices/client-data.ts'
import { type CborMap, decodeCbor } from '../../packages/server/identity/devices/encoding/cbor.ts'
import { parseCertificate } from '../../packages/server/identity/devices/x509/certificate.ts'
import { parseTrustAnchors } from '../../packages/server/identity/devices/x509/trust-anchor.ts'
import {
  assertKey,
  attestKey,
  createAndroidDevice,
  createKeyAttestationAuthority,
} from '../../packages/server/testing/fakes/android-device.ts'
import {
  assertApp,
  attestApp,
  createAppAttestAuthority,
  createAppAttestDevice,
} from '../../packages/server/testing/fakes/app-attest-device.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual } from '../oracle.ts'

const NOW = Date.UTC(2031, 4, 14)
const APP = 'ABCDE12345.com.example.app'
const CHALLENGE = 'tHLCQtpqTCLkJQfP9cbpfuTIMU_bASaBREGye_FPGaQ'
const DIGEST = 'ab'.repeat(32)

const [apple, iphone] = [createAppAttestAuthority(), createAppAttestDevice()]
const [google, phone] = [createKeyAttestationAuthority(), createAndroidDevice()]
const [appleRoots, googleRoots] = [parseTrustAnchors(apple.rootPem), parseTrustAnchors(google.rootPem)]
const iphoneKey = iphone.publicKey.export({ type: 'spki', format: 'der' })
const phoneKey = phone.publicKey.export({ type: 'spki', format: 'der' })
const chain = attestKey(google, phone, {
  challenge: CHALLENGE,
  packageNames: ['com.example.app'],
  signingDigests: [DIGEST],
})

interface Verifier {
  readonly genuine: Buffer
  verify(bytes: Buffer): { readonly valid: boolean }
  /** What of the object counts: the rest may change. */
  toCounted(bytes: Buffer): unknown
}

const whole = (bytes: Buffer): unknown => bytes

const verifiers: readonly Verifier[] = [
  {
    genuine: attestApp(apple, iphone, { appId: APP, challenge: CHALLENGE }),
    verify: attestation =>
      verifyAppAttestation({
        attestation,
        keyId: iphone.keyId,
        clientDataHash: hashClientData(CHALLENGE),
        appIds: [APP],
        environment: 'production',
        now: NOW,
        roots: appleRoots,
      }),
    // The receipt has a signature of its own, which Apple verifies.
    toCounted(bytes) {
      const { fmt, attStmt, authData } = Object.fromEntries(decodeCbor(bytes) as CborMap)
      return [fmt, (attStmt as CborMap).get('x5c'), authData]
    },
  },
  {
    genuine: assertApp(iphone, { appId: APP, challenge: CHALLENGE, counter: 1 }),
    verify: assertion =>
      verifyAppAssertion({
        assertion,
        publicKey: iphoneKey,
        clientDataHash: hashClientData(CHALLENGE),
        appId: APP,
        storedCounter: 0,
      }),
    toCounted: whole,
  },
  {
    genuine: assertKey(phone, CHALLENGE, 1),
    verify: assertion =>
      verifyKeyAssertion({
        assertion,
        publicKey: phoneKey,
        challenge: CHALLENGE,
        counter: 1,
        storedCounter: 0,
      }),
    toCounted: whole,
  },
  ...chain.map((certificate, index) => ({
    genuine: certificate,
    verify: (bytes: Buffer) =>
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
    // Of the client's copy of the root only the key is read: the root itself is configured.
    toCounted: index === chain.length - 1 ? (bytes: Buffer) => parseCertificate(bytes).publicKey : whole,
  })),
]

export const seeds = verifiers.flatMap(({ genuine }, index) => [
  Buffer.from([index, 1, 0, 60, 0, 1]),
  Buffer.concat([Buffer.of(0x80 | index), genuine]),
])

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const choice = input.byte()
  const verifier = verifiers[(choice & 0x7f) % verifiers.length] as Verifier
  const { genuine } = verifier
  const bytes = choice >= 0x80 ? input.rest() : edit(genuine, input)
  const { valid } = verifier.verify(bytes)
  if (bytes.equals(genuine)) assert(valid, 'a genuine object is accepted')
  if (valid)
    assertEqual(verifier.toCounted(bytes), verifier.toCounted(genuine), 'a changed object is not accepted')
}
