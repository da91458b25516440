import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  bits,
  boolean,
  commonName,
  der,
  explicit,
  generalizedTime,
  integer,
  objectIdentifier,
  octets,
  sequence,
} from './der-writer.ts'

export interface WrittenExtension {
  readonly id: string
  readonly value: Buffer
  readonly isCritical?: boolean
}

export interface CertificateOptions {
  readonly subject: string
  readonly publicKey: KeyObject | Buffer
  /** By default the certificate is signed with `keys.privateKey` of the issuer. */
  readonly issuer: Pick<Authority, 'subject' | 'privateKey'>
  readonly notBefore?: number
  readonly notAfter?: number
  readonly serial?: number | bigint
  readonly extensions?: readonly WrittenExtension[]
  /** Parts of the certificate that a test replaces. */
  readonly version?: Buffer
  readonly digest?: 'sha1' | 'sha256' | 'sha384'
  readonly innerAlgorithm?: Buffer
}

/** A certificate and the key that it is for. */
export interface Authority {
  readonly subject: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly certificate: Buffer
}

const SIGNATURES = {
  ec: { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2', sha384: '1.2.840.10045.4.3.3' },
  rsa: { sha1: '1.2.840.113549.1.1.5', sha256: '1.2.840.113549.1.1.11', sha384: '1.2.840.113549.1.1.12' },
}

export function writeCertificate(options: CertificateOptions): Buffer {
  const { subject, publicKey, issuer, digest = 'sha256', serial = 1, extensions = [] } = options
  const type = issuer.privateKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec'
  const id = objectIdentifier(SIGNATURES[type][digest])
  const algorithm = type === 'rsa' ? sequence(id, der(0x05)) : sequence(id)
  const { notBefore = Date.UTC(2020, 0), notAfter = Date.UTC(2060, 0) } = options
  const body = sequence(
    options.version ?? explicit(0, integer(2)),
    integer(serial),
    options.innerAlgorithm ?? algorithm,
    commonName(issuer.subject),
    sequence(generalizedTime(notBefore), generalizedTime(notAfter)),
    commonName(subject),
    Buffer.isBuffer(publicKey) ? publicKey : publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions.map(toExtension))),
  )
  return sequence(body, algorithm, bits(sign(digest, body, issuer.privateKey)))
}

const toExtension = ({ id, value, isCritical = false }: WrittenExtension): Buffer =>
  sequence(objectIdentifier(id), ...(isCritical ? [boolean(true)] : []), octets(value))

/** The extensions of a CA. */
export function authorityExtensions(maxAuthoritiesBelow?: number): WrittenExtension[] {
  const path = maxAuthoritiesBelow === undefined ? [] : [integer(maxAuthoritiesBelow)]
  return [
    { id: '2.5.29.19', value: sequence(boolean(true), ...path), isCritical: true },
    { id: '2.5.29.15', value: bits(Buffer.from([0x06]), 1), isCritical: true },
  ]
}

/** A CA with a key of its own; without an issuer a root. */
export function createAuthority(
  subject: string,
  issuer?: Authority,
  options: Partial<CertificateOptions> & { keys?: { privateKey: KeyObject; publicKey: KeyObject } } = {},
): Authority {
  const { privateKey, publicKey } = options.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = writeCertificate({
    subject,
    publicKey,
    issuer: issuer ?? { subject, privateKey },
    extensions: authorityExtensions(),
    ...options,
  })
  return { subject, privateKey, publicKey, certificate }
}

export function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
