import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type Authority,
  authorityExtensions,
  type CertificateOptions,
  createAuthority,
  toPem,
  writeCertificate,
} from '../../../testing/fakes/certificate-writer.ts'
import {
  bits,
  boolean,
  explicit,
  integer,
  objectIdentifier,
  octets,
  sequence,
} from '../../../testing/fakes/der-writer.ts'
import { InvalidDeviceError } from '../encoding/invalid-device-error.ts'
import { parseCertificate } from './certificate.ts'
import { assertPathToAny, type PathOptions } from './certificate-path.ts'
import { parseTrustAnchors } from './trust-anchor.ts'

const NOW = Date.UTC(2031, 4, 14)
const HOUR = 3600_000

const rsa = (modulusLength: number, publicExponent = 65537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })

const root = createAuthority('Root', undefined, { keys: ec('P-384'), digest: 'sha384' })
const issuer = createAuthority('Issuer', root, { digest: 'sha384' })
const leafKeys = ec('P-256')
const toLeaf = (by: Pick<Authority, 'subject' | 'privateKey'>, change: Partial<CertificateOptions> = {}) =>
  writeCertificate({ subject: 'Leaf', publicKey: leafKeys.publicKey, issuer: by, ...change })

/** Why a path is rejected, or 'accepted'. */
function check(
  path: readonly Buffer[],
  pem = toPem(root.certificate),
  options: Partial<PathOptions> = {},
): string {
  try {
    const certificates = path.map(each => parseCertificate(each))
    assertPathToAny(certificates, parseTrustAnchors(pem), { now: NOW, isLeafByDevice: false, ...options })
    return 'accepted'
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidDeviceError)
    return (error as Error).message
  }
}

describe('accepts', () => {
  test('a path of one, two and three certificates', () => {
    const second = createAuthority('Second', issuer)
    expect(check([toLeaf(root)])).toBe('accepted')
    expect(check([toLeaf(issuer), issuer.certificate])).toBe('accepted')
    expect(check([toLeaf(second), second.certificate, issuer.certificate])).toBe('accepted')
  })

  test.each([
    ['RSA of 2048 bits', rsa(2048)],
    ['RSA of 4096 bits', rsa(4096)],
    ['P-256', ec('P-256')],
    ['P-384', ec('P-384')],
    ['P-521', ec('P-521')],
  ])('an issuer with a key on %s', (_, keys) => {
    const other = createAuthority('Other', root, { keys })
    for (const digest of ['sha256', 'sha384'] as const) {
      expect(check([toLeaf(other, { digest }), other.certificate])).toBe('accepted')
    }
  })

  test('certificates that Node reads in the same way', () => {
    const [bytes, other] = [toLeaf(issuer, { serial: 0xabcdef }), new X509Certificate(toLeaf(issuer))]
    expect(new X509Certificate(bytes).serialNumber.toLowerCase()).toBe(parseCertificate(bytes).serial)
    expect(other.verify(issuer.publicKey)).toBe(true)
    expect(Date.parse(other.validTo)).toBe(parseCertificate(bytes).notAfter)
  })

  test('a path to the root of the same name that signed it', () => {
    const namesake = createAuthority('Root')
    const pem = toPem(namesake.certificate) + toPem(root.certificate)
    expect(check([toLeaf(issuer), issuer.certificate], pem)).toBe('accepted')
  })

  test('an issuer up to the last millisecond of its life', () => {
    const short = createAuthority('Short', root, { notBefore: NOW, notAfter: NOW + HOUR })
    const path = [toLeaf(short), short.certificate]
    expect(check(path)).toBe('accepted')
    expect(check(path, undefined, { now: NOW + HOUR })).toBe('accepted')
    expect(check(path, undefined, { now: NOW + HOUR + 1 })).toContain('has expired')
    expect(check(path, undefined, { now: NOW - 1 })).toContain('not valid yet')
  })

  test('no names that are constrained for other uses, as some phones have them', () => {
    const constraints = { id: '2.5.29.30', value: sequence() }
    const other = createAuthority('Other', root, { extensions: [...authorityExtensions(), constraints] })
    expect(check([toLeaf(other), other.certificate])).toBe('accepted')
  })
})

describe('rejects', () => {
  test('a path to an unknown root, to a namesake, and to a root that has expired', () => {
    const stranger = createAuthority('Stranger')
    expect(check([toLeaf(stranger)])).toContain('does not lead to a known root')
    const namesake = createAuthority('Root')
    expect(check([toLeaf(namesake)])).toContain('signature of the leaf')
    const old = createAuthority('Old', undefined, { notAfter: NOW - 1 })
    expect(check([toLeaf(old)], toPem(old.certificate))).toContain('root certificate has expired')
  })

  test('an issuer of another name, a signature by another key, a changed byte', () => {
    const namesake = createAuthority('Issuer', root)
    expect(check([toLeaf(namesake), issuer.certificate])).toContain('signature of the leaf')
    expect(check([toLeaf(root), issuer.certificate])).toContain('names another issuer')
    const changed = Buffer.from(toLeaf(issuer))
    changed.write('Deaf', changed.indexOf('Leaf'))
    expect(check([changed, issuer.certificate])).toContain('signature of the leaf')
  })

  test('a leaf out of its lifetime, unless the device wrote it', () => {
    const path = [toLeaf(issuer, { notAfter: NOW - 1 }), issuer.certificate]
    expect(check(path)).toContain('leaf certificate has expired')
    expect(check(path, undefined, { isLeafByDevice: true })).toBe('accepted')
  })

  test.each([
    ['no basic constraints', []],
    ['basic constraints of no CA', [{ id: '2.5.29.19', value: sequence() }]],
    [
      'a key usage without keyCertSign',
      [...authorityExtensions().slice(0, 1), { id: '2.5.29.15', value: bits(Buffer.from([0x80]), 7) }],
    ],
    [
      'a key usage whose keyCertSign is among the unused bits',
      [...authorityExtensions().slice(0, 1), { id: '2.5.29.15', value: bits(Buffer.from([0x06]), 3) }],
    ],
  ])('an issuer with %s, unless it is the one in the device', (_, extensions) => {
    const other = createAuthority('Other', issuer, { extensions })
    const path = [toLeaf(other), other.certificate, issuer.certificate]
    expect(check(path)).toContain('may not issue another')
    expect(check(path, undefined, { isLeafByDevice: true })).toBe('accepted')
    const below = createAuthority('Below', other)
    expect(
      check([toLeaf(below), below.certificate, ...path.slice(1)], undefined, { isLeafByDevice: true }),
    ).toContain('issuing (2) certificate may not issue another')
  })

  test('more CAs below one than it allows', () => {
    const narrow = createAuthority('Narrow', root, { extensions: authorityExtensions(0) })
    const below = createAuthority('Below', narrow)
    expect(check([toLeaf(narrow), narrow.certificate])).toBe('accepted')
    const path = [toLeaf(below), below.certificate, narrow.certificate]
    expect(check(path)).toContain('issuing (2) certificate may not issue another')
  })

  test('a critical extension that is unknown, in each place', () => {
    const unknown = { id: '1.2.3.4', value: octets('x'), isCritical: true }
    expect(check([toLeaf(root, { extensions: [unknown] })])).toContain('unknown extension 1.2.3.4')
    const other = createAuthority('Other', root, { extensions: [...authorityExtensions(), unknown] })
    expect(check([toLeaf(other), other.certificate])).toContain('unknown extension 1.2.3.4')
  })

  test('SHA-1', () => {
    expect(check([toLeaf(root, { digest: 'sha1' })])).toContain('signature of the leaf')
  })

  test.each([
    ['RSA of 1024 bits', rsa(1024), 'RSA key'],
    ['RSA of 8192 bits', rsa(8192, 3), 'too large'],
    ['RSA with the exponent 3', rsa(2048, 3), 'RSA key'],
    ['secp256k1', ec('secp256k1'), 'not accepted'],
    ['Ed25519', generateKeyPairSync('ed25519'), 'not accepted'],
  ])('an issuer with a key on %s', (_, keys, reason) => {
    const { certificate } = createAuthority('Other', root, {
      keys: ec('P-256'),
      publicKey: keys.publicKey,
    })
    const by = { subject: 'Other', privateKey: leafKeys.privateKey }
    expect(check([toLeaf(by), certificate])).toContain(reason)
  })

  test('an issuer on a curve whose parameters it brings along', () => {
    const named = issuer.publicKey.export({ type: 'spki', format: 'der' })
    const parameters = sequence(integer(1), sequence(objectIdentifier('1.2.840.10045.1.1'), integer(7)))
    const publicKey = sequence(
      sequence(objectIdentifier('1.2.840.10045.2.1'), parameters),
      bits(named.subarray(-65)),
    )
    const other = createAuthority('Other', root, { publicKey })
    expect(check([toLeaf(other), other.certificate])).toContain('not accepted')
  })
})

describe('rejects a certificate', () => {
  const twice = { id: '1.2.3.4', value: octets('x') }
  test.each<[string, Partial<CertificateOptions>, string]>([
    ['of version 1', { version: Buffer.alloc(0) }, 'is missing'],
    ['of version 2', { version: explicit(0, integer(1)) }, 'version 3'],
    [
      'with two signature algorithms',
      { innerAlgorithm: sequence(objectIdentifier('1.2.3')) },
      'two signature',
    ],
    ['with an extension twice', { extensions: [twice, twice] }, 'occurs twice'],
    [
      'with more than 32 extensions',
      { extensions: Array.from({ length: 33 }, (_, index) => ({ ...twice, id: `1.2.3.${index}` })) },
      'too many extensions',
    ],
    ['of more than 8 KiB', { extensions: [{ ...twice, value: Buffer.alloc(8192) }] }, '8 KiB'],
    [
      'with basic constraints of three parts',
      { extensions: [{ id: '2.5.29.19', value: sequence(boolean(true), integer(1), integer(1)) }] },
      'malformed',
    ],
  ])('%s', (_, change, reason) => {
    const other = createAuthority('Other', root, change)
    expect(check([toLeaf(other), other.certificate])).toContain(reason)
  })

  test('in PEM, and one that bytes follow', () => {
    const leaf = toLeaf(root)
    expect(check([Buffer.from(toPem(leaf))])).toContain('DER')
    expect(check([Buffer.concat([leaf, Buffer.from([0])])])).toContain('bytes follow')
  })
})

describe('roots in PEM', () => {
  test('are read in order, with text around them', () => {
    const text = `First\r\n${toPem(root.certificate).replaceAll('\n', '\r\n')}second\n${toPem(issuer.certificate)}`
    const anchors = parseTrustAnchors(text)
    expect(anchors.map(({ notAfter }) => notAfter)).toEqual([Date.UTC(2060, 0), Date.UTC(2060, 0)])
    expect(anchors[1]?.publicKey).toEqual(issuer.publicKey.export({ type: 'spki', format: 'der' }))
  })

  test('are refused with a reason if they are none', () => {
    expect(() => parseTrustAnchors('')).toThrow('no certificate')
    expect(() => parseTrustAnchors(toPem(root.certificate).repeat(33))).toThrow('more than 32')
    const weak = createAuthority('Weak', undefined, { keys: rsa(1024) })
    expect(() => parseTrustAnchors(toPem(root.certificate) + toPem(weak.certificate))).toThrow(
      'Certificate 2 cannot be a root: An RSA key',
    )
    expect(() => parseTrustAnchors(toPem(Buffer.from('text')))).toThrow('Certificate 1 cannot be a root')
  })
})
