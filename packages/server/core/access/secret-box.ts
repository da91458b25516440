import { createCipheriv, createDecipheriv, createHash, createHmac, type DecipherGCM } from 'node:crypto'
import type { Random } from '../random.ts'

/**
 * Encrypts secrets that must be read again, such as provider keys, with the master key and AES-256-GCM. Layout: version
 * byte 1, key id (8), iv (12), tag (16), ciphertext. The context names the row of the secret and is authenticated, so that
 * a ciphertext moved to another row does not open.
 */
export interface SecretBox {
  /** Identifies the master key that seals: the first 8 bytes of its SHA-256, in hex. */
  readonly keyId: string
  /** A string is sealed as its bytes in UTF-8. */
  seal(plaintext: string | Uint8Array, context: string): Buffer
  /** Seals like `seal`, and yields between pieces of the work, each of which takes less than a millisecond. */
  sealSteps(plaintext: Uint8Array, context: string): Generator<void, Buffer>
  /** Throws SecretBoxError if the bytes were altered, or sealed with another context or a key that the box lacks. */
  open(sealed: Buffer, context: string): string
  /** Opens like `open`, for content that is not text. */
  openBytes(sealed: Buffer, context: string): Buffer
  /** Opens like `openBytes` what was cut into pieces, of which the first has all before the ciphertext, and yields after each. */
  openSteps(sealed: readonly Buffer[], context: string): Generator<void, Buffer>
  /**
   * Returns 12 hex characters that identify a secret. Keyed by the master key (HMAC-SHA-256), so that guesses cannot be
   * checked without it.
   */
  fingerprint(plaintext: string): string
  /** Returns an HMAC-SHA-256 with a key derived for the purpose. It proves that this deployment made the bytes. */
  sign(bytes: Buffer, purpose: string): Buffer
}

export class SecretBoxError extends Error {
  override readonly name: string = 'SecretBoxError'
}

/** Sealed under a master key that the box does not hold. */
export class UnknownMasterKeyError extends SecretBoxError {
  override readonly name = 'UnknownMasterKeyError'
}

const VERSION = 1
const KEY_BYTES = 32
const KEY_ID_BYTES = 8
const IV_BYTES = 12
const TAG_BYTES = 16
/** What is sealed at once. */
const PIECE = 256 * 1024
const HEAD_BYTES = 1 + KEY_ID_BYTES
const BODY_AT = HEAD_BYTES + IV_BYTES + TAG_BYTES

/** `previous` keys open what they sealed and seal nothing. They are needed while the master key changes. */
export function openSecretBox(
  masterKey: Buffer,
  random: Random,
  previous: readonly Buffer[] = [],
): SecretBox {
  const keys = new Map([...previous, masterKey].map(key => [toKeyId(key), key]))
  const keyId = toKeyId(masterKey)
  const ownHead = Buffer.concat([Buffer.of(VERSION), Buffer.from(keyId, 'hex')])

  // Each purpose has a key of its own, so that no output of one purpose is valid for another.
  const subkey = (purpose: string): Buffer => createHmac('sha256', masterKey).update(purpose).digest()
  const fingerprintKey = subkey('fingerprint')

  const startOpening = (sealed: Buffer, context: string): DecipherGCM => {
    const theirs = readKeyId(sealed)
    const key = keys.get(theirs)
    if (key === undefined) {
      throw new UnknownMasterKeyError(
        `sealed under another master key (${theirs}; this process has ${keyId}): is RIDEAU_MASTER_KEY the right one?`,
      )
    }
    const iv = sealed.subarray(HEAD_BYTES, HEAD_BYTES + IV_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(sealed.subarray(0, HEAD_BYTES), context))
    decipher.setAuthTag(sealed.subarray(HEAD_BYTES + IV_BYTES, BODY_AT))
    return decipher
  }
  const openBytes = (sealed: Buffer, context: string): Buffer => {
    const decipher = startOpening(sealed, context)
    return Buffer.concat([decipher.update(sealed.subarray(BODY_AT)), endOpening(decipher)])
  }

  return {
    keyId,
    fingerprint: plaintext =>
      createHmac('sha256', fingerprintKey).update(plaintext, 'utf8').digest('hex').slice(0, 12),
    sign: (bytes, purpose) =>
      createHmac('sha256', subkey(`sign:${purpose}`))
        .update(bytes)
        .digest(),
    seal(plaintext, context) {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, iv).setAAD(boundTo(ownHead, context))
      const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext
      const body = [cipher.update(bytes), cipher.final()]
      return Buffer.concat([ownHead, iv, cipher.getAuthTag(), ...body])
    },
    *sealSteps(plaintext, context) {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, iv).setAAD(boundTo(ownHead, context))
      const sealed = Buffer.allocUnsafeSlow(BODY_AT + plaintext.length)
      for (let at = 0; at < plaintext.length; at += PIECE) {
        cipher.update(plaintext.subarray(at, at + PIECE)).copy(sealed, BODY_AT + at)
        yield
      }
      // A stream cipher has nothing left.
      cipher.final()
      Buffer.concat([ownHead, iv, cipher.getAuthTag()]).copy(sealed)
      return sealed
    },
    open: (sealed, context) => openBytes(sealed, context).toString('utf8'),
    openBytes,
    *openSteps(sealed, context) {
      const [first = Buffer.alloc(0)] = sealed
      const decipher = startOpening(first, context)
      const length = sealed.reduce((sum, piece) => sum + piece.length, -BODY_AT)
      const opened = Buffer.allocUnsafeSlow(length)
      let at = 0
      for (const piece of sealed) {
        at += decipher.update(piece === first ? piece.subarray(BODY_AT) : piece).copy(opened, at)
        yield
      }
      endOpening(decipher)
      return opened
    },
  }
}

/** Throws SecretBoxError if what was opened is not what was sealed. A stream cipher has nothing left. */
function endOpening(decipher: DecipherGCM): Buffer {
  try {
    return decipher.final()
  } catch {
    throw new SecretBoxError('the sealed secret was altered or belongs to another row')
  }
}

/** Returns the id of a master key, which does not reveal it. Throws SecretBoxError unless the key has 32 bytes. */
export function toKeyId(masterKey: Buffer): string {
  if (masterKey.length !== KEY_BYTES) throw new SecretBoxError(`the master key must have ${KEY_BYTES} bytes`)
  return createHash('sha256')
    .update(masterKey)
    .digest('hex')
    .slice(0, KEY_ID_BYTES * 2)
}

/** Returns the additional authenticated data. It includes the head, so that no byte of the whole may change. */
function boundTo(head: Buffer, context: string): Buffer {
  return Buffer.concat([head, Buffer.from(context)])
}

function readKeyId(sealed: Buffer): string {
  if (sealed.length < BODY_AT) throw new SecretBoxError('the sealed secret is cut short')
  if (sealed[0] !== VERSION)
    throw new SecretBoxError(`the sealed secret has the unknown version ${sealed[0]}; known is ${VERSION}`)
  return sealed.toString('hex', 1, HEAD_BYTES)
}
