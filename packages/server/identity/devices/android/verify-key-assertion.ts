import { verify } from 'node:crypto'
import { assertValid, type Rejection, toVerdict } from '../encoding/invalid-device-error.ts'
import { parsePublicKey } from '../x509/public-key.ts'

export interface KeyAssertionInput {
  /** An ECDSA signature in DER, by the attested key with SHA-256, of the challenge and the counter (see toSignedBytes). */
  readonly assertion: Buffer
  /** The key's SubjectPublicKeyInfo in DER, from its attestation. */
  readonly publicKey: Buffer
  /** The challenge as its route returned it. */
  readonly challenge: string
  /** The counter that the app sent. */
  readonly counter: number
  /** The stored counter. The new one is stored by an update that also requires it to be larger. */
  readonly storedCounter: number
}

const MAX_COUNTER = 2 ** 32 - 1
/** The longest ECDSA signature on P-256 in DER. */
const MAX_SIGNATURE_BYTES = 72

/** Verifies an assertion of an attested Android key. The challenge must have been consumed before. Any input gives a verdict. */
export function verifyKeyAssertion(input: KeyAssertionInput): { valid: true; counter: number } | Rejection {
  return toVerdict(() => {
    const { assertion, publicKey, challenge, counter, storedCounter } = input
    const isCounter = Number.isInteger(counter) && counter >= 0 && counter <= MAX_COUNTER
    assertValid(isCounter && counter > storedCounter, 'The counter did not increase.')
    assertValid(assertion.length <= MAX_SIGNATURE_BYTES, 'The signature is too long.')
    const key = { key: parsePublicKey(publicKey), dsaEncoding: 'der' as const }
    const isSigned = verify('sha256', toSignedBytes(challenge, counter), key, assertion)
    assertValid(isSigned, 'The signature is wrong.')
    return { valid: true, counter }
  })
}

/** The challenge's UTF-8 bytes, a zero byte, and the counter as four bytes, big-endian. */
function toSignedBytes(challenge: string, counter: number): Buffer {
  const text = Buffer.from(challenge, 'utf8')
  const bytes = Buffer.alloc(text.length + 5)
  text.copy(bytes)
  bytes.writeUInt32BE(counter, text.length + 1)
  return bytes
}
