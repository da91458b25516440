import {
  type DerElement,
  ENUMERATED,
  expectTag,
  INTEGER,
  OCTET_STRING,
  readElement,
  readElements,
  readList,
  SEQUENCE,
  SET,
  toBoolean,
  toNumber,
} from '../encoding/der.ts'
import { assertValid } from '../encoding/invalid-device-error.ts'

/** What secure hardware says about a key: the extension of KeyMint and, before it, Keymaster. Buffers share the input's memory. */
export interface KeyDescription {
  readonly attestationVersion: number
  /** 0: software, 1: trusted execution environment, 2: StrongBox. */
  readonly attestationSecurityLevel: number
  readonly keyMintVersion: number
  readonly keyMintSecurityLevel: number
  readonly challenge: Buffer
  /** What the system says, which a changed system can forge. */
  readonly softwareEnforced: AuthorizationList
  /** What the hardware says. */
  readonly hardwareEnforced: AuthorizationList
}

/** Fields that the list does not have are null. */
export interface AuthorizationList {
  /** 2: sign. */
  readonly purposes: readonly number[] | null
  /** 1: RSA, 3: EC. */
  readonly algorithm: number | null
  /** 1: P-256. */
  readonly ecCurve: number | null
  /** 0: generated in the hardware. */
  readonly origin: number | null
  readonly rootOfTrust: RootOfTrust | null
  readonly application: AttestedApplication | null
}

export interface RootOfTrust {
  readonly deviceLocked: boolean
  /** 0: verified, 1: self-signed, 2: unverified, 3: failed. */
  readonly verifiedBootState: number
}

export interface AttestedApplication {
  readonly packageNames: readonly string[]
  /** SHA-256 of the signing certificates, lower-case hex. */
  readonly signingDigests: readonly string[]
}

/** Reads the extension's value. Throws InvalidDeviceError. Source: the schema in Android's documentation of key attestation. */
export function parseKeyDescription(value: Buffer): KeyDescription {
  const parts = readList(value, SEQUENCE)
  assertValid(parts.length === 8, 'The key description has not eight parts.')
  const [version, level, keyMintVersion, keyMintLevel, challenge, , software, hardware] = parts
  return {
    attestationVersion: toNumber(version, INTEGER),
    attestationSecurityLevel: toNumber(level, ENUMERATED),
    keyMintVersion: toNumber(keyMintVersion, INTEGER),
    keyMintSecurityLevel: toNumber(keyMintLevel, ENUMERATED),
    challenge: expectTag(challenge, OCTET_STRING).content,
    softwareEnforced: toAuthorizationList(software),
    hardwareEnforced: toAuthorizationList(hardware),
  }
}

const PURPOSE = 1
const ALGORITHM = 2
const EC_CURVE = 10
const ORIGIN = 702
const ROOT_OF_TRUST = 704
const APPLICATION_ID = 709

/** Context-specific and constructed: the class of the fields' explicit tags. */
const FIELD_CLASS = 0xa0

function toAuthorizationList(element: DerElement | undefined): AuthorizationList {
  const fields = new Map<number, Buffer>()
  for (const field of readElements(expectTag(element, SEQUENCE).content)) {
    assertValid((field.tag & 0xe0) === FIELD_CLASS, 'A field of the key description has another class.')
    assertValid(!fields.has(field.number), `The field ${field.number} of the key description occurs twice.`)
    fields.set(field.number, field.content)
  }
  const read = <T>(number: number, parse: (content: Buffer) => T): T | null => {
    const content = fields.get(number)
    return content === undefined ? null : parse(content)
  }
  return {
    purposes: read(PURPOSE, content => readList(content, SET).map(element => toNumber(element, INTEGER))),
    algorithm: read(ALGORITHM, readNumber),
    ecCurve: read(EC_CURVE, readNumber),
    origin: read(ORIGIN, readNumber),
    rootOfTrust: read(ROOT_OF_TRUST, readRootOfTrust),
    application: read(APPLICATION_ID, readApplication),
  }
}

function readNumber(content: Buffer): number {
  return toNumber(readElement(content, INTEGER), INTEGER)
}

function readRootOfTrust(content: Buffer): RootOfTrust {
  const [key, deviceLocked, verifiedBootState, bootHash, ...others] = readList(content, SEQUENCE)
  expectTag(key, OCTET_STRING)
  // Keymaster 1 and 2 have no hash.
  if (bootHash !== undefined) expectTag(bootHash, OCTET_STRING)
  assertValid(others.length === 0, 'The root of trust has more than four parts.')
  return {
    deviceLocked: toBoolean(deviceLocked),
    verifiedBootState: toNumber(verifiedBootState, ENUMERATED),
  }
}

/** An OCTET STRING that holds a list of its own: the packages that share the app's user id, and their signers. */
function readApplication(content: Buffer): AttestedApplication {
  const [packages, digests, ...others] = readList(readElement(content, OCTET_STRING).content, SEQUENCE)
  assertValid(others.length === 0, 'The application id has more than two parts.')
  return {
    packageNames: readElements(expectTag(packages, SET).content).map(element => {
      const [name] = readElements(expectTag(element, SEQUENCE).content)
      return expectTag(name, OCTET_STRING).content.toString('utf8')
    }),
    signingDigests: readElements(expectTag(digests, SET).content).map(element =>
      expectTag(element, OCTET_STRING).content.toString('hex'),
    ),
  }
}
