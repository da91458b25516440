import type { KeyObject } from 'node:crypto'
import { assertValid } from '../encoding/invalid-device-error.ts'
import { type Certificate, canIssue, findUnknownExtension, isAuthority } from './certificate.ts'
import { isSignedBy, parsePublicKey } from './public-key.ts'
import type { TrustAnchor } from './trust-anchor.ts'

export interface PathOptions {
  /** Unix milliseconds. */
  readonly now: number
  /**
   * True if a device wrote the leaf. Then the leaf's lifetime, which follows the device's clock, does not count, and its issuer need not
   * be a CA: the makers' certificates of many phones say that they are none.
   */
  readonly isLeafByDevice: boolean
}

/** Checks a path like assertPath(), with the trust anchor that the path's last certificate names. */
export function assertPathToAny(
  path: readonly Certificate[],
  anchors: readonly TrustAnchor[],
  options: PathOptions,
): void {
  const last = path.at(-1)
  const named = anchors.filter(({ subject }) => last?.issuer.equals(subject))
  // A test's root may have the name of a real one.
  const anchor = named.length < 2 ? named[0] : named.find(({ key }) => last && isIssuedBy(last, key))
  assertValid(anchor !== undefined, 'The path does not lead to a known root.')
  assertPath(path, anchor, options)
}

/**
 * Throws InvalidDeviceError unless the path (leaf first, root not included) leads to the trust anchor: names, signatures, lifetimes,
 * the right to issue, critical extensions. It begins at the anchor, so no key is used before its own certificate is
 * verified, and a forged path costs one signature, however long it is.
 */
export function assertPath(path: readonly Certificate[], anchor: TrustAnchor, options: PathOptions): void {
  const { now, isLeafByDevice } = options
  assertLifetime(anchor, now, 'root')
  let issuer = { subject: anchor.subject, key: anchor.key }
  for (const [above, certificate] of path.toReversed().entries()) {
    const index = path.length - 1 - above
    const place = index === 0 ? 'leaf' : `issuing (${index})`
    assertValid(certificate.issuer.equals(issuer.subject), `The ${place} certificate names another issuer.`)
    const unknown = findUnknownExtension(certificate)
    assertValid(unknown === undefined, `The ${place} certificate has the unknown extension ${unknown}.`)
    if (index > 0 || !isLeafByDevice) assertLifetime(certificate, now, place)
    if (index > (isLeafByDevice ? 1 : 0)) {
      const authoritiesBelow = path.slice(1, index).filter(isAuthority).length
      assertValid(canIssue(certificate, authoritiesBelow), `The ${place} certificate may not issue another.`)
    }
    assertValid(isIssuedBy(certificate, issuer.key), `The signature of the ${place} certificate is wrong.`)
    if (index > 0) issuer = { subject: certificate.subject, key: parsePublicKey(certificate.publicKey) }
  }
}

function isIssuedBy({ signed, signatureAlgorithm, signature }: Certificate, key: KeyObject): boolean {
  return isSignedBy(signed, signatureAlgorithm, signature, key)
}

function assertLifetime(
  { notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: number,
  place: string,
): void {
  assertValid(notBefore <= now, `The ${place} certificate is not valid yet.`)
  assertValid(now <= notAfter, `The ${place} certificate has expired.`)
}
