import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  OBJECT_IDENTIFIER,
  readElement,
  readElements,
  readList,
  SEQUENCE,
  toObjectIdentifier,
} from '../encoding/der.ts'
import { assertValid, InvalidDeviceError } from '../encoding/invalid-device-error.ts'

/** A SubjectPublicKeyInfo of an uncompressed point on P-256: this prefix, then X and Y. */
const P256_PREFIX = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')
const P256_BYTES = P256_PREFIX.length + 65

/** Returns the point of a P-256 key (04, X, Y: 65 bytes). Throws InvalidDeviceError for any other key. */
export function readP256Point(publicKey: Buffer): Buffer {
  const isP256 =
    publicKey.length === P256_BYTES && publicKey.subarray(0, P256_PREFIX.length).equals(P256_PREFIX)
  assertValid(isP256 && publicKey[P256_PREFIX.length] === 4, "The device's key is not on P-256.")
  return publicKey.subarray(P256_PREFIX.length)
}

/**
 * AlgorithmIdentifiers of the accepted keys, in hex. Curves stand here by name only: OpenSSL would also accept parameters of
 * the sender's own, with which a sender can make a key that verifies any given signature.
 */
const CURVES = new Set([
  '301306072a8648ce3d020106082a8648ce3d030107', // P-256
  '301006072a8648ce3d020106052b81040022', // P-384
  '301006072a8648ce3d020106052b81040023', // P-521
])
const RSA = '300d06092a864886f70d0101010500'
const MAX_KEY_BYTES = 1024

/** Reads a SubjectPublicKeyInfo: an EC key on a curve of NIST, or RSA of 2048 to 4096 bits. Throws InvalidDeviceError. */
export function parsePublicKey(publicKey: Buffer): KeyObject {
  assertValid(publicKey.length <= MAX_KEY_BYTES, 'A public key is too large.')
  const algorithm = readElements(readElement(publicKey, SEQUENCE).content)[0]?.whole.toString('hex') ?? ''
  assertValid(algorithm === RSA || CURVES.has(algorithm), 'A public key is of a kind that is not accepted.')
  const key = toKeyObject(publicKey)
  const { modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {}
  // A large exponent would make each verification slow.
  const isFit =
    algorithm !== RSA || (modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === 65537n)
  assertValid(isFit, 'An RSA key has not 2048 to 4096 bits and the exponent 65537.')
  return key
}

function toKeyObject(publicKey: Buffer): KeyObject {
  try {
    return createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
  } catch {
    throw new InvalidDeviceError('A public key is malformed.')
  }
}

interface SignatureAlgorithm {
  readonly digest: string
  readonly keyType: 'ec' | 'rsa'
}

const SIGNATURES: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  ['1.2.840.10045.4.3.2', { digest: 'sha256', keyType: 'ec' }],
  ['1.2.840.10045.4.3.3', { digest: 'sha384', keyType: 'ec' }],
  ['1.2.840.10045.4.3.4', { digest: 'sha512', keyType: 'ec' }],
  ['1.2.840.113549.1.1.11', { digest: 'sha256', keyType: 'rsa' }],
  ['1.2.840.113549.1.1.12', { digest: 'sha384', keyType: 'rsa' }],
  ['1.2.840.113549.1.1.13', { digest: 'sha512', keyType: 'rsa' }],
])

/** True if the key made the signature with that AlgorithmIdentifier. SHA-1 and RSA-PSS are not accepted. */
export function isSignedBy(signed: Buffer, algorithm: Buffer, signature: Buffer, key: KeyObject): boolean {
  const [id] = readList(algorithm, SEQUENCE)
  if (id?.tag !== OBJECT_IDENTIFIER) return false
  const found = SIGNATURES.get(toObjectIdentifier(id))
  if (found === undefined || found.keyType !== key.asymmetricKeyType) return false
  return verify(found.digest, signed, key, signature)
}
