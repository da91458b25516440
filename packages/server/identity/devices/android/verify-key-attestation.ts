import { sha256 } from '../client-data.ts'
import { assertValid, type Rejection, toVerdict } from '../encoding/invalid-device-error.ts'
import { parseCertificate } from '../x509/certificate.ts'
import { assertPath } from '../x509/certificate-path.ts'
import { readP256Point } from '../x509/public-key.ts'
import type { TrustAnchor } from '../x509/trust-anchor.ts'
import { type AuthorizationList, type KeyDescription, parseKeyDescription } from './key-description.ts'

export interface KeyChainInput {
  /** Certificates in DER, the key's own first and the root last, as the system returned them. */
  readonly certificateChain: readonly Buffer[]
  /** Serial numbers of withdrawn certificates. See parseRevocationList(). */
  readonly revokedSerials: ReadonlySet<string>
  /** Unix milliseconds. */
  readonly now: number
  readonly roots: readonly TrustAnchor[]
}

export interface KeyAttestationInput extends KeyChainInput {
  /** SHA-256 of the key's SubjectPublicKeyInfo. */
  readonly keyId: Buffer
  /** What the app passed to the system: the UTF-8 bytes of the challenge as the challenge route returned it. */
  readonly attestationChallenge: Buffer
  readonly packageNames: readonly string[]
  /** SHA-256 of the apps' signing certificates, lower-case hex. */
  readonly signingDigests: readonly string[]
}

export interface VerifiedKeyAttestation {
  readonly valid: true
  readonly packageName: string
  /** The key's SubjectPublicKeyInfo in DER: each later assertion is verified with it. */
  readonly publicKey: Buffer
  readonly securityLevel: 'trusted_environment' | 'strongbox'
  /** SHA-256 of the certificates by which the app is signed, lower-case hex. */
  readonly signingDigests: readonly string[]
}

const MAX_CERTIFICATES = 6
const MAX_CHAIN_BYTES = 24 * 1024

const KEY_DESCRIPTION_EXTENSION = '1.3.6.1.4.1.11129.2.1.17'

/**
 * Verifies an Android key attestation offline: that the secure hardware of a locked device with its maker's system made a new
 * signing key for this challenge, at the request of one of these apps. The challenge must have been consumed before. Any
 * input gives a verdict.
 */
export function verifyKeyAttestation(input: KeyAttestationInput): VerifiedKeyAttestation | Rejection {
  return toVerdict(() => {
    const { publicKey, description } = readKeyChain(input)
    readP256Point(publicKey)
    assertValid(sha256(publicKey).equals(input.keyId), 'The key id is not the hash of the attested key.')
    const isSameChallenge = description.challenge.equals(input.attestationChallenge)
    assertValid(isSameChallenge, 'The key was attested for another challenge.')
    const securityLevel = parseSecurityLevel(description)
    assertHardwareKey(description.hardwareEnforced)
    const application = parseApplication(description.softwareEnforced, input)
    return { valid: true, ...application, publicKey: Buffer.from(publicKey), securityLevel }
  })
}

/** Verifies the chain alone, and returns what it says about the key. Throws InvalidDeviceError. */
export function readKeyChain({ certificateChain, revokedSerials, now, roots }: KeyChainInput): {
  publicKey: Buffer
  description: KeyDescription
} {
  const count = certificateChain.length
  assertValid(
    count >= 2 && count <= MAX_CERTIFICATES,
    `The chain has not 2 to ${MAX_CERTIFICATES} certificates.`,
  )
  const bytes = certificateChain.reduce((sum, each) => sum + each.length, 0)
  assertValid(bytes <= MAX_CHAIN_BYTES, 'The chain is larger than 24 KiB.')
  const certificates = certificateChain.map(each => parseCertificate(each))
  const [leaf, ...issuers] = certificates
  const root = certificates.at(-1)
  const anchor = roots.find(({ publicKey }) => root?.publicKey.equals(publicKey))
  assertValid(leaf !== undefined && anchor !== undefined, 'The chain does not end in a known root.')
  // An attested key of an app can sign: then a chain would have two descriptions, and the lower one be forged.
  const isExtended = issuers.some(({ extensions }) => extensions.has(KEY_DESCRIPTION_EXTENSION))
  assertValid(!isExtended, 'An issuing certificate has a key description.')
  const isRevoked = certificates.some(({ serial }) => revokedSerials.has(serial))
  assertValid(!isRevoked, 'A certificate of the chain has been revoked.')
  assertPath(certificates.slice(0, -1), anchor, { now, isLeafByDevice: true })
  const extension = leaf.extensions.get(KEY_DESCRIPTION_EXTENSION)
  assertValid(extension !== undefined, 'The leaf certificate has no key description.')
  return { publicKey: leaf.publicKey, description: parseKeyDescription(extension.value) }
}

function parseSecurityLevel(description: KeyDescription): VerifiedKeyAttestation['securityLevel'] {
  const { attestationSecurityLevel: level, keyMintSecurityLevel } = description
  const isHardware = level === keyMintSecurityLevel && (level === 1 || level === 2)
  assertValid(isHardware, 'The key or its attestation is not of secure hardware.')
  return level === 1 ? 'trusted_environment' : 'strongbox'
}

/** Only the hardware's list counts: a changed system can write anything into the other one. */
function assertHardwareKey({ origin, rootOfTrust, purposes, algorithm, ecCurve }: AuthorizationList): void {
  assertValid(origin === 0, 'The key was not generated in the hardware.')
  assertValid(algorithm === 3 && ecCurve === 1, 'The key is not an EC key on P-256.')
  assertValid(purposes?.includes(2) ?? false, 'The key is not for signing.')
  assertValid(rootOfTrust !== null, 'The hardware does not say how the device was started.')
  assertValid(rootOfTrust.verifiedBootState === 0, "The device runs a system that is not its maker's.")
  assertValid(rootOfTrust.deviceLocked, 'The device is unlocked.')
}

function parseApplication(
  { application }: AuthorizationList,
  { packageNames, signingDigests }: KeyAttestationInput,
): Pick<VerifiedKeyAttestation, 'packageName' | 'signingDigests'> {
  assertValid(application !== null, 'The key names no app.')
  const [packageName, ...others] = application.packageNames
  assertValid(packageName !== undefined && others.length === 0, 'The key names several apps.')
  assertValid(packageNames.includes(packageName), 'The key was made by another app.')
  const signers = application.signingDigests
  assertValid(isSignedBy(signers, signingDigests), 'The app has another signing certificate.')
  return { packageName, signingDigests: signers }
}

/** True if every certificate by which an app is signed is an accepted one, and there is one. */
export function isSignedBy(signers: readonly string[], accepted: readonly string[]): boolean {
  return signers.length > 0 && signers.every(digest => accepted.includes(digest))
}
