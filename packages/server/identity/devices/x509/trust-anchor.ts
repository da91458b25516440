import type { KeyObject } from 'node:crypto'
import { InvalidDeviceError } from '../encoding/invalid-device-error.ts'
import { type Certificate, parseCertificate } from './certificate.ts'
import { parsePublicKey } from './public-key.ts'

/** A root that attestations may end in. Only its name, key and lifetime count. */
export interface TrustAnchor {
  /** In DER. */
  readonly subject: Buffer
  /** The SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer
  readonly key: KeyObject
  /** Unix milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g
const MAX_ANCHORS = 32

/**
 * Returns the certificates of a PEM text as trust anchors. For the operator's own text: throws an Error that names the
 * certificate at fault. Text around the certificates is ignored.
 */
export function parseTrustAnchors(pem: string): TrustAnchor[] {
  const bodies = [...pem.matchAll(PEM)].map(match => match[1] ?? '')
  if (bodies.length === 0) throw new Error('There is no certificate in PEM form.')
  if (bodies.length > MAX_ANCHORS) throw new Error(`There are more than ${MAX_ANCHORS} certificates.`)
  return bodies.map((body, index) => {
    try {
      return toTrustAnchor(parseCertificate(Buffer.from(body, 'base64')))
    } catch (error) {
      if (!(error instanceof InvalidDeviceError)) throw error
      throw new Error(`Certificate ${index + 1} cannot be a root: ${error.message}`)
    }
  })
}

function toTrustAnchor({ subject, publicKey, notBefore, notAfter }: Certificate): TrustAnchor {
  return { subject, publicKey, key: parsePublicKey(publicKey), notBefore, notAfter }
}
