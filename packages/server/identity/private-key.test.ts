import crypto, { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { der, explicit, integer, objectIdentifier, octets, sequence } from '../testing/fakes/der-writer.ts'
import { parseP256PrivateKey, parseRsaPrivateKey } from './private-key.ts'

const P256 = sequence(objectIdentifier('1.2.840.10045.2.1'), objectIdentifier('1.2.840.10045.3.1.7'))
const RSA = sequence(objectIdentifier('1.2.840.113549.1.1.1'), der(0x05))

const toPem = (bytes: Buffer): string =>
  `-----BEGIN PRIVATE KEY-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`
const toPkcs8 = (algorithm: Buffer, content: Buffer): string =>
  toPem(sequence(integer(0), algorithm, octets(content)))
const ofBits = (bits: number): bigint => (1n << BigInt(bits)) - 1n

const toText = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const makeEc = (namedCurve: string): string => toText(generateKeyPairSync('ec', { namedCurve }).privateKey)
const makeRsa = (modulusLength: number): string =>
  toText(generateKeyPairSync('rsa', { modulusLength }).privateKey)
const ecKey = makeEc('P-256')
const rsaKey = makeRsa(2048)

/** A DSA key, of which OpenSSL computes the public part when it reads it. */
const dsaKey = toPkcs8(
  sequence(
    objectIdentifier('1.2.840.10040.4.1'),
    sequence(integer(ofBits(2048)), integer(ofBits(256)), integer(2)),
  ),
  integer(ofBits(2047)),
)

interface RsaSizes {
  n?: number
  e?: number
  d?: number
  half?: number
}
function rsaOf({ n = 2048, e = 17, d = n, half = n / 2 }: RsaSizes, version = 0): string {
  const sizes = [n, e, d, half, half, half, half, half]
  return toPkcs8(RSA, sequence(integer(version), ...sizes.map(bits => integer(ofBits(bits)))))
}

let read: MockInstance
beforeEach(() => {
  read = vi.spyOn(crypto, 'createPrivateKey')
  syncBuiltinESMExports()
})
afterEach(() => {
  read.mockRestore()
  syncBuiltinESMExports()
})

describe('parseP256PrivateKey', () => {
  test.each([
    ['as Apple gives it', ecKey],
    ['with carriage returns', ecKey.replaceAll('\n', '\r\n')],
    ['without line breaks', ecKey.replaceAll('\n', '')],
  ])('reads a key %s', (_, pem) => {
    expect(parseP256PrivateKey(pem)?.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(read).toHaveBeenCalledTimes(1)
  })

  const scalar = octets(Buffer.alloc(32, 1))
  test('reads a key that names its curve inside too', () => {
    const curve = explicit(0, objectIdentifier('1.2.840.10045.3.1.7'))
    expect(parseP256PrivateKey(toPkcs8(P256, sequence(integer(1), scalar, curve)))).toBeDefined()
  })

  test.each([
    ['text', 'secret'],
    ['a DSA key', dsaKey],
    ['an RSA key', rsaKey],
    ['a key on P-384', makeEc('P-384')],
    [
      'a key with another curve inside',
      toPkcs8(P256, sequence(integer(1), scalar, explicit(0, objectIdentifier('1.3.132.0.34')))),
    ],
    [
      'a key with parameters of its own inside',
      toPkcs8(P256, sequence(integer(1), scalar, explicit(0, sequence(integer(1))))),
    ],
    ['a key that is too long', toPkcs8(P256, sequence(integer(1), scalar, octets(Buffer.alloc(300))))],
    ['two keys', ecKey + ecKey],
    ['a key behind another text', `x${ecKey}`],
    ['a key in DER that is cut', toPem(Buffer.from('30820100', 'hex'))],
    ['a key among many spaces', ' '.repeat(10_000) + ecKey],
  ])('returns undefined for %s, before OpenSSL reads it', (_, pem) => {
    expect(parseP256PrivateKey(pem)).toBeUndefined()
    expect(read).not.toHaveBeenCalled()
  })
})

describe('parseRsaPrivateKey', () => {
  test('reads a key as OpenSSL writes it', () => {
    expect(parseRsaPrivateKey(rsaKey)?.asymmetricKeyDetails?.modulusLength).toBe(2048)
  })

  test.each([2048, 3072, 4096])('reads a key of %i bits', n => {
    expect(parseRsaPrivateKey(rsaOf({ n }))?.asymmetricKeyDetails?.modulusLength).toBe(n)
  })

  test.each([
    ['text', 'secret'],
    ['a DSA key', dsaKey],
    ['a key on P-256', ecKey],
    ['a modulus of 1024 bits', rsaOf({ n: 1024 })],
    ['a modulus of 4104 bits', rsaOf({ n: 4104 })],
    ['a modulus of 24,000 bits', rsaOf({ n: 24_000 })],
    ['a private exponent longer than the modulus', rsaOf({ d: 2056 })],
    ['a public exponent of 40 bits', rsaOf({ e: 40 })],
    ['primes longer than half of the modulus', rsaOf({ half: 1032 })],
    ['further primes', rsaOf({}, 1)],
    [
      'a number that is negative',
      toPkcs8(RSA, sequence(...Array.from({ length: 9 }, () => der(2, Buffer.from([0xff]))))),
    ],
  ])('returns undefined for %s, before OpenSSL reads it', (_, pem) => {
    expect(parseRsaPrivateKey(pem)).toBeUndefined()
    expect(read).not.toHaveBeenCalled()
  })
})
