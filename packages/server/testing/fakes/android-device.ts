import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  type Authority,
  type CertificateOptions,
  createAuthority,
  toPem,
  writeCertificate,
} from './certificate-writer.ts'
import { boolean, enumerated, explicit, integer, octets, sequence, set } from './der-writer.ts'

/** Stands for Google: a root, a CA below it, and the certificate that the maker put into the device. */
export interface KeyAttestationAuthority {
  readonly root: Authority
  readonly issuers: readonly Authority[]
  readonly rootPem: string
}

export function createKeyAttestationAuthority(): KeyAttestationAuthority {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const root = createAuthority('Test Key Attestation Root', undefined, { keys, serial: 3 })
  const intermediate = createAuthority('Test Key Attestation CA', root, { serial: 4 })
  const device = createAuthority('Test Device', intermediate, { serial: 5 })
  return { root, issuers: [device, intermediate], rootPem: toPem(root.certificate) }
}

export interface AndroidDevice {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** SHA-256 of the public key as `getPublic().getEncoded()` returns it. */
  readonly keyId: Buffer
}

export function createAndroidDevice(): AndroidDevice {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const bytes = publicKey.export({ type: 'spki', format: 'der' })
  return { privateKey, publicKey, keyId: createHash('sha256').update(bytes).digest() }
}

/** Each part of a key's description, of which a test replaces the one that it makes wrong. */
export interface KeyParts {
  readonly challenge: string
  readonly packageNames?: readonly string[]
  /** SHA-256, in hex. */
  readonly signingDigests?: readonly string[]
  readonly levels?: readonly [number, number]
  readonly deviceLocked?: Buffer
  readonly bootState?: number
  readonly origin?: number
  readonly purpose?: number
  readonly isRootOfTrustInSoftware?: boolean
  readonly leaf?: Partial<CertificateOptions>
}

export const KEY_DESCRIPTION_ID = '1.3.6.1.4.1.11129.2.1.17'

export function writeKeyDescription(parts: KeyParts): Buffer {
  const {
    packageNames = [],
    signingDigests = [],
    levels = [1, 1],
    bootState = 0,
    origin = 0,
    purpose = 2,
  } = parts
  const application = sequence(
    set(...packageNames.map(name => sequence(octets(name), integer(7)))),
    set(...signingDigests.map(digest => octets(Buffer.from(digest, 'hex')))),
  )
  const rootOfTrust = explicit(
    704,
    sequence(
      octets(Buffer.alloc(32)),
      parts.deviceLocked ?? boolean(true),
      enumerated(bootState),
      octets(Buffer.alloc(32)),
    ),
  )
  const key = [explicit(1, set(integer(purpose))), explicit(2, integer(3)), explicit(10, integer(1))]
  const source = explicit(702, integer(origin))
  const inSoftware = parts.isRootOfTrustInSoftware === true
  return sequence(
    integer(300),
    enumerated(levels[0]),
    integer(300),
    enumerated(levels[1]),
    octets(parts.challenge),
    octets(''),
    sequence(...(inSoftware ? [rootOfTrust] : []), explicit(709, octets(application))),
    sequence(...key, source, ...(inSoftware ? [] : [rootOfTrust])),
  )
}

/** What `getCertificateChain` returns for a key that was made with a challenge. */
export function attestKey(
  { root, issuers }: KeyAttestationAuthority,
  { publicKey }: AndroidDevice,
  parts: KeyParts,
): Buffer[] {
  const [device] = issuers
  if (device === undefined) throw new Error('The authority has no issuer.')
  const leaf = writeCertificate({
    subject: 'Android Keystore Key',
    publicKey,
    issuer: device,
    notBefore: 0,
    notAfter: Date.UTC(2019, 0),
    extensions: [{ id: KEY_DESCRIPTION_ID, value: writeKeyDescription(parts) }],
    ...parts.leaf,
  })
  return [leaf, ...issuers.map(({ certificate }) => certificate), root.certificate]
}

/** A key's signature of a challenge and a counter, as an app's own code makes it. */
export function assertKey({ privateKey }: AndroidDevice, challenge: string, counter: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.writeUInt32BE(counter, 1)
  return sign('sha256', Buffer.concat([Buffer.from(challenge, 'utf8'), bytes]), privateKey)
}
