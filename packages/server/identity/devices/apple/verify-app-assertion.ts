import { verify } from 'node:crypto'
import { sha256 } from '../client-data.ts'
import { decodeCbor } from '../encoding/cbor.ts'
import { assertValid, type Rejection, toVerdict } from '../encoding/invalid-device-error.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { type AppStatement, readAppStatement, readAssertionData } from './authenticator-data.ts'

export interface AppAssertionInput {
  /** The assertion, as the app sent it. */
  readonly assertion: Buffer
  /** The key's SubjectPublicKeyInfo in DER, from its attestation. */
  readonly publicKey: Buffer
  /** See hashClientData(). */
  readonly clientDataHash: Buffer
  /** The app that the key was attested for. */
  readonly appId: string
  /** The stored counter. The new one is stored by an update that also requires it to be larger. */
  readonly storedCounter: number
}

export interface VerifiedAppAssertion extends AppStatement {
  readonly valid: true
  readonly counter: number
}

const MAX_ASSERTION_BYTES = 2 * 1024

/** Verifies an App Attest assertion offline. The challenge must have been consumed before. Any input gives a verdict. */
export function verifyAppAssertion(input: AppAssertionInput): VerifiedAppAssertion | Rejection {
  return toVerdict(() => {
    const { assertion, publicKey, clientDataHash, appId, storedCounter } = input
    assertValid(assertion.length <= MAX_ASSERTION_BYTES, 'The assertion is larger than 2 KiB.')
    const { signature, authenticatorData } = readAssertion(assertion)
    const { appIdHash, counter, extensions } = readAssertionData(authenticatorData)
    assertValid(appIdHash.equals(sha256(Buffer.from(appId, 'utf8'))), 'The assertion is of another app.')
    assertValid(counter > storedCounter, 'The counter did not increase.')
    // Unlike in WebAuthn the signed message is the hash, so that the data are hashed twice.
    const nonce = sha256(authenticatorData, clientDataHash)
    const key = { key: parsePublicKey(publicKey), dsaEncoding: 'der' as const }
    assertValid(verify('sha256', nonce, key, signature), 'The signature is wrong.')
    return { valid: true, counter, ...readAppStatement(extensions) }
  })
}

function readAssertion(bytes: Buffer): { signature: Buffer; authenticatorData: Buffer } {
  const assertion = decodeCbor(bytes)
  assertValid(assertion instanceof Map && assertion.size === 2, 'The assertion has not two fields.')
  const [signature, authenticatorData] = [assertion.get('signature'), assertion.get('authenticatorData')]
  assertValid(
    Buffer.isBuffer(signature) && Buffer.isBuffer(authenticatorData),
    'The signature or the data are no bytes.',
  )
  return { signature, authenticatorData }
}
