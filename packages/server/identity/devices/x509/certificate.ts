import {
  BIT_STRING,
  type DerElement,
  expectTag,
  GENERALIZED_TIME,
  INTEGER,
  OCTET_STRING,
  readElement,
  readElements,
  readList,
  SEQUENCE,
  toBoolean,
  toNumber,
  toObjectIdentifier,
  UTC_TIME,
} from '../encoding/der.ts'
import { assertValid, InvalidDeviceError } from '../encoding/invalid-device-error.ts'

/** What a certificate of version 3 says (RFC 5280). Nothing of it is verified. Buffers share the input's memory. */
export interface Certificate {
  /** The signed bytes. */
  readonly signed: Buffer
  /** An AlgorithmIdentifier in DER. */
  readonly signatureAlgorithm: Buffer
  readonly signature: Buffer
  /** Lower-case hex without leading zeros. */
  readonly serial: string
  /** Names in DER. A CA spells its name in one way, so they are compared as bytes (RFC 5280, 4.1.2.6). */
  readonly issuer: Buffer
  readonly subject: Buffer
  /** Unix milliseconds; NaN for a time that is malformed, which no comparison accepts. */
  readonly notBefore: number
  readonly notAfter: number
  /** The SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer
  /** By object identifier with dots. */
  readonly extensions: ReadonlyMap<string, Extension>
}

export interface Extension {
  readonly isCritical: boolean
  /** What the OCTET STRING holds. */
  readonly value: Buffer
}

const MAX_BYTES = 8 * 1024
const MAX_EXTENSIONS = 32

const VERSION_TAG = 0xa0
const ISSUER_ID_TAG = 0x81
const SUBJECT_ID_TAG = 0x82
const EXTENSIONS_TAG = 0xa3

/** Reads a certificate in DER. Throws InvalidDeviceError. */
export function parseCertificate(bytes: Buffer): Certificate {
  assertValid(bytes.length <= MAX_BYTES, 'A certificate is larger than 8 KiB.')
  const [signed, algorithm, signature, ...others] = readList(bytes, SEQUENCE)
  assertValid(others.length === 0, 'A certificate has more than three parts.')
  const body = expectTag(signed, SEQUENCE)
  const [version, serial, innerAlgorithm, issuer, validity, subject, publicKey, ...rest] = readElements(
    body.content,
  )
  const isVersion3 = toNumber(readElements(expectTag(version, VERSION_TAG).content)[0], INTEGER) === 2
  assertValid(isVersion3, 'A certificate is not of version 3.')
  const signatureAlgorithm = expectTag(algorithm, SEQUENCE).whole
  assertValid(
    expectTag(innerAlgorithm, SEQUENCE).whole.equals(signatureAlgorithm),
    'A certificate names two signature algorithms.',
  )
  const [notBefore, notAfter] = readElements(expectTag(validity, SEQUENCE).content)
  return {
    signed: body.whole,
    signatureAlgorithm,
    signature: toBytes(signature),
    serial: expectTag(serial, INTEGER).content.toString('hex').replace(/^0+/, ''),
    issuer: expectTag(issuer, SEQUENCE).whole,
    subject: expectTag(subject, SEQUENCE).whole,
    notBefore: toTime(notBefore),
    notAfter: toTime(notAfter),
    publicKey: expectTag(publicKey, SEQUENCE).whole,
    extensions: toExtensions(rest),
  }
}

/** The bytes of a BIT STRING that has no unused bits. */
function toBytes(element: DerElement | undefined): Buffer {
  const { content } = expectTag(element, BIT_STRING)
  assertValid(content[0] === 0, 'The signature of a certificate is malformed.')
  return content.subarray(1)
}

function toExtensions(rest: readonly DerElement[]): ReadonlyMap<string, Extension> {
  const [last, ...ids] = rest.toReversed()
  assertValid(
    ids.every(({ tag }) => tag === ISSUER_ID_TAG || tag === SUBJECT_ID_TAG),
    'A certificate has an unknown part.',
  )
  const extensions = new Map<string, Extension>()
  const list = readList(expectTag(last, EXTENSIONS_TAG).content, SEQUENCE)
  assertValid(list.length <= MAX_EXTENSIONS, 'A certificate has too many extensions.')
  for (const element of list) {
    const parts = readElements(expectTag(element, SEQUENCE).content)
    assertValid(parts.length === 2 || parts.length === 3, 'An extension is malformed.')
    const id = toObjectIdentifier(parts[0])
    assertValid(!extensions.has(id), `The extension ${id} occurs twice.`)
    const isCritical = parts.length === 3 && toBoolean(parts[1])
    extensions.set(id, { isCritical, value: expectTag(parts.at(-1), OCTET_STRING).content })
  }
  return extensions
}

const UTC = /^(\d\d)(\d{10})Z$/
const GENERALIZED = /^(\d{4})(\d{10})Z$/

function toTime(element: DerElement | undefined): number {
  if (element === undefined) throw new InvalidDeviceError('A certificate has no validity.')
  const text = element.content.toString('latin1')
  if (element.tag === GENERALIZED_TIME) return toMilliseconds(GENERALIZED.exec(text))
  if (element.tag !== UTC_TIME) return Number.NaN
  const match = UTC.exec(text)
  // Two digits mean a year from 1950 to 2049.
  return toMilliseconds(match, match !== null && Number(match[1]) < 50 ? '20' : '19')
}

function toMilliseconds(match: RegExpExecArray | null, century = ''): number {
  const [, year = '', rest = ''] = match ?? []
  const [month, day, hour, minute, second] = rest.match(/../g) ?? []
  return Date.parse(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

const BASIC_CONSTRAINTS = '2.5.29.19'
const KEY_USAGE = '2.5.29.15'
/** The bit keyCertSign in the first byte of a KeyUsage. */
const CERT_SIGN = 0x04

/** True for a certificate of a CA (basicConstraints). */
export function isAuthority(certificate: Certificate): boolean {
  return readBasicConstraints(certificate).isAuthority
}

/** True if the certificate may issue one that has `authoritiesBelow` further CAs below it, the leaf not counted. */
export function canIssue(certificate: Certificate, authoritiesBelow: number): boolean {
  const { isAuthority, maxAuthoritiesBelow } = readBasicConstraints(certificate)
  if (!isAuthority || authoritiesBelow > maxAuthoritiesBelow) return false
  const usage = certificate.extensions.get(KEY_USAGE)
  if (usage === undefined) return true
  const { content } = readElement(usage.value, BIT_STRING)
  const [unused = 8, bits = 0] = content
  // In DER the unused bits of the last byte are 0. Other parsers would leave them out, and keyCertSign with them.
  const isMalformed = unused > 7 || ((content.at(-1) ?? 0) & ((1 << unused) - 1)) !== 0
  return !isMalformed && (bits & CERT_SIGN) !== 0
}

function readBasicConstraints({ extensions }: Certificate): {
  isAuthority: boolean
  maxAuthoritiesBelow: number
} {
  const extension = extensions.get(BASIC_CONSTRAINTS)
  const parts = extension === undefined ? [] : readList(extension.value, SEQUENCE)
  const [first, second] = parts
  if (first === undefined) return { isAuthority: false, maxAuthoritiesBelow: 0 }
  assertValid(parts.length <= 2, 'The basic constraints of a certificate are malformed.')
  const maxAuthoritiesBelow = second === undefined ? Number.POSITIVE_INFINITY : toNumber(second, INTEGER)
  return { isAuthority: toBoolean(first), maxAuthoritiesBelow }
}

/**
 * The extensions that are acted on. Name constraints are not among them: no name in these certificates says who a device is,
 * and some phones' issuers carry them as not critical.
 */
const UNDERSTOOD = new Set([BASIC_CONSTRAINTS, KEY_USAGE])

/** Returns a critical extension that is not understood, which makes a certificate invalid (RFC 5280, 4.2); undefined if there is none. */
export function findUnknownExtension({ extensions }: Certificate): string | undefined {
  for (const [id, { isCritical }] of extensions) if (isCritical && !UNDERSTOOD.has(id)) return id
  return undefined
}
