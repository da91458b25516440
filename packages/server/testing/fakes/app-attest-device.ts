import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type CborInput, encodeCbor } from './cbor-writer.ts'
import {
  type Authority,
  type CertificateOptions,
  createAuthority,
  toPem,
  writeCertificate,
} from './certificate-writer.ts'
import { explicit, octets, sequence } from './der-writer.ts'

/** Stands for Apple: a root, and the CA below it that issues the certificates of devices' keys. */
export interface AppAttestAuthority {
  readonly root: Authority
  readonly issuer: Authority
  readonly rootPem: string
}

export function createAppAttestAuthority(): AppAttestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const root = createAuthority('Test App Attestation Root CA', undefined, { keys, digest: 'sha384' })
  const issuer = createAuthority('Test App Attestation CA 1', root, { digest: 'sha384' })
  return { root, issuer, rootPem: toPem(root.certificate) }
}

export interface AppAttestDevice {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly keyId: Buffer
}

const sha256 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}

/** A device's key, as `generateKey` makes it. */
export function createAppAttestDevice(): AppAttestDevice {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, publicKey, keyId: sha256(toPoint(publicKey)) }
}

const toPoint = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(-65)

/** Each part of an attestation, of which a test replaces the one that it makes wrong. */
export interface AttestationParts {
  readonly appId: string
  readonly challenge: string
  readonly environment?: string
  readonly counter?: number
  readonly flags?: number
  readonly extensions?: CborInput
  readonly coseKey?: CborInput
  readonly keyIdLength?: number
  readonly tail?: Buffer
  readonly leaf?: Partial<CertificateOptions>
  readonly leafExtensions?: CertificateOptions['extensions']
  readonly nonce?: Buffer
  readonly chain?: (leaf: Buffer, issuer: Buffer) => CborInput
  readonly format?: string
}

/** What `attestKey` returns for a challenge, signed by the authority. */
export function attestApp(
  authority: AppAttestAuthority,
  device: AppAttestDevice,
  parts: AttestationParts,
): Buffer {
  const { keyId, publicKey } = device
  const point = toPoint(publicKey)
  const { counter = 0, flags = 0x40, environment = 'appattest', keyIdLength = 32 } = parts
  const coseKey: CborInput = parts.coseKey ?? toCoseKey(point)
  const authData = Buffer.concat([
    toHead(parts.appId, flags, counter),
    Buffer.from(environment.padEnd(16, '\0')),
    Buffer.from([keyIdLength >> 8, keyIdLength & 0xff]),
    keyId,
    encodeCbor(coseKey),
    parts.extensions === undefined ? Buffer.alloc(0) : encodeCbor(parts.extensions),
    parts.tail ?? Buffer.alloc(0),
  ])
  const nonce = parts.nonce ?? sha256(authData, sha256(parts.challenge))
  const nonceExtension = { id: '1.2.840.113635.100.8.2', value: sequence(explicit(1, octets(nonce))) }
  const leaf = writeCertificate({
    subject: keyId.toString('hex'),
    publicKey,
    issuer: authority.issuer,
    extensions: [nonceExtension, ...(parts.leafExtensions ?? [])],
    ...parts.leaf,
  })
  const { chain = (first, second) => [first, second] } = parts
  const statement = new Map<string, CborInput>([
    ['x5c', chain(leaf, authority.issuer.certificate)],
    ['receipt', Buffer.from('receipt')],
  ])
  return encodeCbor(
    new Map<string, CborInput>([
      ['fmt', parts.format ?? 'apple-appattest'],
      ['attStmt', statement],
      ['authData', authData],
    ]),
  )
}

export function toCoseKey(point: Buffer): Map<number, CborInput> {
  return new Map<number, CborInput>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point.subarray(1, 33)],
    [-3, point.subarray(33)],
  ])
}

/** What `generateAssertion` returns for a challenge. */
export function assertApp(
  { privateKey }: AppAttestDevice,
  { appId, challenge, counter }: { appId: string; challenge: string; counter: number },
): Buffer {
  const authenticatorData = toHead(appId, 0x40, counter)
  const signature = sign('sha256', sha256(authenticatorData, sha256(challenge)), privateKey)
  return encodeCbor(
    new Map<string, CborInput>([
      ['signature', signature],
      ['authenticatorData', authenticatorData],
    ]),
  )
}

function toHead(appId: string, flags: number, counter: number): Buffer {
  const head = Buffer.alloc(37)
  sha256(appId).copy(head)
  head.writeUInt8(flags, 32)
  head.writeUInt32BE(counter, 33)
  return head
}
