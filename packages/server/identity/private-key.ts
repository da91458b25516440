import { createPrivateKey, type KeyObject } from 'node:crypto'
import { decodeBase64 } from './devices/encoding/base64.ts'
import {
  type DerElement,
  expectTag,
  INTEGER,
  OCTET_STRING,
  readElement,
  readElements,
  readList,
  SEQUENCE,
  toNumber,
} from './devices/encoding/der.ts'
import { InvalidDeviceError } from './devices/encoding/invalid-device-error.ts'

/**
 * Private keys that tenants store, as PEM of PKCS #8 (RFC 5958, RFC 7468), which Apple and Google hand out. Their kind and the
 * sizes of their numbers are checked before OpenSSL reads them, because reading a key of another kind, or using one with
 * larger numbers, takes time by the cube of a size that the tenant chooses.
 */

const PEM = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]*)-----END PRIVATE KEY-----\s*$/

/** AlgorithmIdentifiers in DER, as hex. */
const P256 = '301306072a8648ce3d020106082a8648ce3d030107'
const RSA = '300d06092a864886f70d0101010500'

/** The curve of a key on P-256 may also stand inside it, where OpenSSL would accept parameters of the sender's own. */
const CURVE_TAG = 0xa0
const P256_CURVE = '06082a8648ce3d030107'
/** A key on P-256 takes 150 bytes. */
const MAX_P256_BYTES = 300
/** An RSA key of 4096 bits takes 2,375 bytes. */
const MAX_RSA_BYTES = 3_072
const MIN_MODULUS_BITS = 2_048
const MAX_MODULUS_BITS = 4_096
const MAX_EXPONENT_BITS = 32

/** Reads an EC key on P-256; undefined: the text is not one. */
export function parseP256PrivateKey(pem: string): KeyObject | undefined {
  return readKey(pem, P256, MAX_P256_BYTES, isOnP256)
}

/** Reads an RSA key of 2048 to 4096 bits; undefined: the text is not one. */
export function parseRsaPrivateKey(pem: string): KeyObject | undefined {
  return readKey(pem, RSA, MAX_RSA_BYTES, isBoundedRsa)
}

/** Reads a key with this AlgorithmIdentifier whose content `isAccepted`. */
function readKey(
  pem: string,
  algorithm: string,
  maxBytes: number,
  isAccepted: (content: Buffer) => boolean,
): KeyObject | undefined {
  const der = decodePem(pem, maxBytes)
  if (der === undefined) return undefined
  try {
    const [version, identifier, content] = readList(der, SEQUENCE)
    const isFit =
      toNumber(version, INTEGER) === 0 &&
      expectTag(identifier, SEQUENCE).whole.toString('hex') === algorithm &&
      isAccepted(expectTag(content, OCTET_STRING).content)
    return isFit ? toKeyObject(der) : undefined
  } catch (error) {
    if (error instanceof InvalidDeviceError) return undefined
    throw error
  }
}

/** Returns the bytes of a text with one key; undefined for any other text and for more than `maxBytes`. */
function decodePem(pem: string, maxBytes: number): Buffer | undefined {
  // With labels and line breaks the text has at most twice as many characters as the key has bytes.
  if (pem.length > 2 * maxBytes) return undefined
  const base64 = PEM.exec(pem)?.[1]?.replace(/\s+/g, '')
  return base64 === undefined ? undefined : decodeBase64(base64, maxBytes)
}

function toKeyObject(der: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  } catch {
    return undefined
  }
}

/** Checks that an ECPrivateKey (RFC 5915) names no other curve. */
function isOnP256(content: Buffer): boolean {
  return readList(content, SEQUENCE)
    .filter(({ tag }) => tag === CURVE_TAG)
    .every(curve => curve.content.toString('hex') === P256_CURVE)
}

/** Checks an RSAPrivateKey of two primes (RFC 8017, A.1.2): a signature takes time by the cube of the length of its numbers. */
function isBoundedRsa(content: Buffer): boolean {
  const [version, ...numbers] = readElements(readElement(content, SEQUENCE).content)
  if (toNumber(version, INTEGER) !== 0 || numbers.length !== 8) return false
  const [n = 0, e = 0, d = 0, ...halves] = numbers.map(countBits)
  return (
    n >= MIN_MODULUS_BITS &&
    n <= MAX_MODULUS_BITS &&
    e <= MAX_EXPONENT_BITS &&
    d <= n &&
    halves.every(bits => bits <= Math.ceil(n / 2))
  )
}

/** Returns the length of a positive INTEGER in bits; Infinity for any other element. */
function countBits({ tag, content }: DerElement): number {
  const first = content.findIndex(byte => byte !== 0)
  if (tag !== INTEGER || first < 0 || (content[0] ?? 0x80) >= 0x80) return Number.POSITIVE_INFINITY
  return (content.length - first) * 8 - Math.clz32(content[first] ?? 0) + 24
}
