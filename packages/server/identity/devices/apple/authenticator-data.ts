import { type CborMap, type CborValue, decodeCborAt } from '../encoding/cbor.ts'
import { assertValid } from '../encoding/invalid-device-error.ts'

/** The fixed part of the authenticator data: hash of the app's id, flags, counter. */
const HEAD_BYTES = 37
const FLAGS_AT = 32
const COUNTER_AT = 33
const ENVIRONMENT_AT = 37
const KEY_ID_LENGTH_AT = 53
const KEY_ID_AT = 55
const KEY_ID_BYTES = 32
const PUBLIC_KEY_AT = KEY_ID_AT + KEY_ID_BYTES
/** The flag of WebAuthn that a key follows. */
const HAS_KEY = 0x40

export interface AssertionData {
  readonly appIdHash: Buffer
  readonly counter: number
  readonly extensions: CborMap
}

export interface AttestationData extends AssertionData {
  /** The AAGUID: which of Apple's environments made the key. */
  readonly environment: Buffer
  readonly keyId: Buffer
  /** X and Y of the key on P-256, 64 bytes. */
  readonly point: Buffer
}

/**
 * Reads an attestation's authenticator data. It has the layout of WebAuthn, but a reader for WebAuthn does not fit: extensions
 * may follow without their flag. Throws InvalidDeviceError.
 */
export function readAttestationData(bytes: Buffer): AttestationData {
  assertValid(bytes.length > PUBLIC_KEY_AT, 'The authenticator data are cut.')
  assertValid((bytes.readUInt8(FLAGS_AT) & HAS_KEY) !== 0, 'The authenticator data have no key.')
  assertValid(bytes.readUInt16BE(KEY_ID_LENGTH_AT) === KEY_ID_BYTES, 'The credential id has not 32 bytes.')
  const { value, end } = decodeCborAt(bytes, PUBLIC_KEY_AT)
  return {
    appIdHash: bytes.subarray(0, FLAGS_AT),
    counter: bytes.readUInt32BE(COUNTER_AT),
    environment: bytes.subarray(ENVIRONMENT_AT, KEY_ID_LENGTH_AT),
    keyId: bytes.subarray(KEY_ID_AT, PUBLIC_KEY_AT),
    point: toPoint(value),
    extensions: readExtensions(bytes, end),
  }
}

/** Reads an assertion's authenticator data. Their flags say that a key follows, and none does. Throws InvalidDeviceError. */
export function readAssertionData(bytes: Buffer): AssertionData {
  assertValid(bytes.length >= HEAD_BYTES, 'The authenticator data are cut.')
  return {
    appIdHash: bytes.subarray(0, FLAGS_AT),
    counter: bytes.readUInt32BE(COUNTER_AT),
    extensions: readExtensions(bytes, HEAD_BYTES),
  }
}

/** Nothing, or one map that ends with the bytes, whatever the flags say. */
function readExtensions(bytes: Buffer, offset: number): CborMap {
  if (offset === bytes.length) return new Map()
  const { value, end } = decodeCborAt(bytes, offset)
  assertValid(value instanceof Map && end === bytes.length, 'The authenticator data do not end in one map.')
  return value
}

/** The one COSE key that fits: EC2, ES256, P-256 (RFC 9052, 7). */
function toPoint(key: CborValue): Buffer {
  assertValid(key instanceof Map && key.size === 5, 'The COSE key has not five fields.')
  const isP256 = key.get(1) === 2 && key.get(3) === -7 && key.get(-1) === 1
  const [x, y] = [key.get(-2), key.get(-3)]
  assertValid(isP256 && isCoordinate(x) && isCoordinate(y), 'The COSE key is not on P-256.')
  return Buffer.concat([x, y])
}

function isCoordinate(value: CborValue | undefined): value is Buffer {
  return Buffer.isBuffer(value) && value.length === 32
}

/** What newer systems say about the app, each null where they do not. For the record; nothing depends on it. */
export interface AppStatement {
  /** 1: part of the system, 2: TestFlight, 3: development, 4: App Store, 5: enterprise, 6: Developer ID, 10: other. */
  readonly validationCategory: number | null
  readonly bundleVersion: string | null
}

const MAX_VERSION_LENGTH = 64

export function readAppStatement(extensions: CborMap): AppStatement {
  const category = extensions.get('apple_validation_category_01') ?? extensions.get('validationCategory')
  const version = extensions.get('apple_bundle_version_01') ?? extensions.get('bundleVersion')
  return {
    validationCategory:
      Buffer.isBuffer(category) && category.length === 4
        ? category.readUInt32LE()
        : typeof category === 'number'
          ? category
          : null,
    bundleVersion: typeof version === 'string' ? version.slice(0, MAX_VERSION_LENGTH) : null,
  }
}
