import { sha256 } from '../client-data.ts'
import { type CborValue, decodeCbor } from '../encoding/cbor.ts'
import { assertValid, type Rejection, toVerdict } from '../encoding/invalid-device-error.ts'
import { type Certificate, isAuthority, parseCertificate } from '../x509/certificate.ts'
import { assertPathToAny } from '../x509/certificate-path.ts'
import { readP256Point } from '../x509/public-key.ts'
import type { TrustAnchor } from '../x509/trust-anchor.ts'
import { type AppStatement, readAppStatement, readAttestationData } from './authenticator-data.ts'

export type AppAttestEnvironment = 'production' | 'development'

export interface AppAttestationInput {
  /** The attestation object, as the app sent it. */
  readonly attestation: Buffer
  /** 32 bytes. */
  readonly keyId: Buffer
  /** See hashClientData(). */
  readonly clientDataHash: Buffer
  /** The accepted apps, each `<team id>.<bundle id>`. */
  readonly appIds: readonly string[]
  readonly environment: AppAttestEnvironment
  /** Unix milliseconds. */
  readonly now: number
  readonly roots: readonly TrustAnchor[]
}

export interface VerifiedAppAttestation extends AppStatement {
  readonly valid: true
  readonly appId: string
  /** The key's SubjectPublicKeyInfo in DER: each later assertion is verified with it. */
  readonly publicKey: Buffer
  /** Always 0: the first assertion must have more. */
  readonly counter: number
  /** For Apple's fraud assessment. Its own signature is not verified. */
  readonly receipt: Buffer
}

export const MAX_ATTESTATION_BYTES = 16 * 1024

/** The extension of the leaf that holds the nonce: SEQUENCE { [1] OCTET STRING (32 bytes) }. */
const NONCE_EXTENSION = '1.2.840.113635.100.8.2'
const NONCE_PREFIX = Buffer.from('3024a1220420', 'hex')

const ENVIRONMENTS: Readonly<Record<AppAttestEnvironment, Buffer>> = {
  production: Buffer.from('appattest\0\0\0\0\0\0\0'),
  development: Buffer.from('appattestdevelop'),
}

/**
 * Verifies an App Attest attestation object offline: that Apple attested a new key of a genuine device, for this challenge and
 * one of these apps. The challenge must have been consumed before. Any input gives a verdict.
 */
export function verifyAppAttestation(input: AppAttestationInput): VerifiedAppAttestation | Rejection {
  return toVerdict(() => {
    const { attestation, keyId, clientDataHash, now, roots } = input
    assertValid(attestation.length <= MAX_ATTESTATION_BYTES, 'The attestation is larger than 16 KiB.')
    const { leafBytes, issuerBytes, receipt, authData } = readAttestation(attestation)
    const leaf = parseCertificate(leafBytes)
    // Before the signatures, because it is cheap: a genuine attestation that is sent again fails here.
    assertNonce(leaf, sha256(authData, clientDataHash))
    assertIssued(leaf, parseCertificate(issuerBytes), roots, now)
    const point = readP256Point(leaf.publicKey)
    assertValid(sha256(point).equals(keyId), 'The key id is not the hash of the attested key.')
    const { counter, extensions, appId } = parseAuthenticatorData(authData, point, input)
    const publicKey = Buffer.from(leaf.publicKey)
    return {
      valid: true,
      appId,
      publicKey,
      counter,
      receipt: Buffer.from(receipt),
      ...readAppStatement(extensions),
    }
  })
}

function readAttestation(bytes: Buffer): {
  leafBytes: Buffer
  issuerBytes: Buffer
  receipt: Buffer
  authData: Buffer
} {
  const attestation = decodeCbor(bytes)
  assertValid(hasKeys(attestation, ['fmt', 'attStmt', 'authData']), 'The attestation has other fields.')
  assertValid(attestation.get('fmt') === 'apple-appattest', 'The attestation has another format.')
  const statement = attestation.get('attStmt')
  assertValid(hasKeys(statement, ['x5c', 'receipt']), 'The statement has other fields.')
  const [chain, receipt, authData] = [
    statement.get('x5c'),
    statement.get('receipt'),
    attestation.get('authData'),
  ]
  assertValid(Buffer.isBuffer(receipt) && Buffer.isBuffer(authData), 'The receipt or the data are no bytes.')
  // Always in this order, and without the root.
  assertValid(Array.isArray(chain) && chain.length === 2, 'The chain has not two certificates.')
  const [leafBytes, issuerBytes] = chain
  assertValid(Buffer.isBuffer(leafBytes) && Buffer.isBuffer(issuerBytes), 'A certificate is no bytes.')
  return { leafBytes, issuerBytes, receipt, authData }
}

function hasKeys(
  value: CborValue | undefined,
  keys: readonly string[],
): value is ReadonlyMap<string | number, CborValue> {
  return value instanceof Map && value.size === keys.length && keys.every(key => value.has(key))
}

function assertIssued(
  leaf: Certificate,
  issuer: Certificate,
  roots: readonly TrustAnchor[],
  now: number,
): void {
  const isRoot = roots.some(({ publicKey }) => publicKey.equals(issuer.publicKey))
  assertValid(!isRoot, 'The chain contains the root.')
  assertValid(!isAuthority(leaf), 'The leaf certificate is a CA.')
  assertPathToAny([leaf, issuer], roots, { now, isLeafByDevice: false })
}

function assertNonce({ extensions }: Certificate, nonce: Buffer): void {
  const extension = extensions.get(NONCE_EXTENSION)
  const isSame = extension?.value.equals(Buffer.concat([NONCE_PREFIX, nonce])) ?? false
  assertValid(isSame, 'The nonce is wrong: another challenge, or changed data.')
}

function parseAuthenticatorData(authData: Buffer, point: Buffer, input: AppAttestationInput) {
  const data = readAttestationData(authData)
  const appId = input.appIds.find(id => sha256(Buffer.from(id, 'utf8')).equals(data.appIdHash))
  assertValid(appId !== undefined, 'The key was attested for another app.')
  assertValid(data.counter === 0, 'The counter of a new key is not 0.')
  const isSameEnvironment = data.environment.equals(ENVIRONMENTS[input.environment])
  assertValid(isSameEnvironment, 'The key was attested in another environment.')
  assertValid(data.keyId.equals(input.keyId), 'The credential id is not the key id.')
  assertValid(data.point.equals(point.subarray(1)), "The COSE key is not the certificate's key.")
  return { counter: data.counter, extensions: data.extensions, appId }
}
