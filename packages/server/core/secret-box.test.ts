import { describe, expect, test } from 'vitest'
import { systemRandom } from './random.ts'
import { openSecretBox, SecretBoxError, UnknownMasterKeyError } from './secret-box.ts'

const CONTEXT = 'provider_credentials:018f0000-0000-7000-8000-000000000001'
const box = openSecretBox(Buffer.alloc(32, 7), systemRandom)

describe('the secret box', () => {
  test.each(['', 'sk-test', 'ключ 🔑', 'x'.repeat(10_000)])(
    'opens what it sealed, in the same context',
    text => {
      expect(box.open(box.seal(text, CONTEXT), CONTEXT)).toBe(text)
    },
  )

  test('seals the same text to other bytes each time, none of them the text', () => {
    const [a, b] = [box.seal('sk-very-secret', CONTEXT), box.seal('sk-very-secret', CONTEXT)]
    expect(a.equals(b)).toBe(false)
    expect(a.includes('secret')).toBe(false)
  })

  test('a ciphertext moved to another row does not open', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    expect(() => box.open(sealed, `${CONTEXT}2`)).toThrow(SecretBoxError)
  })

  test('no bit of the whole can change unnoticed', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed)
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(() => box.open(altered, CONTEXT)).toThrow(SecretBoxError)
    }
  })

  test('cut anywhere it is refused', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    for (let length = 0; length < sealed.length; length++) {
      expect(() => box.open(sealed.subarray(0, length), CONTEXT)).toThrow(SecretBoxError)
    }
  })

  test('another master key is told by both names', () => {
    const other = openSecretBox(Buffer.alloc(32, 8), systemRandom)
    const message = `sealed under another master key (${box.keyId}; this process has ${other.keyId})`
    expect(() => other.open(box.seal('sk-test', CONTEXT), CONTEXT)).toThrow(message)
  })

  test('a former key opens what it sealed, and seals nothing', () => {
    const [oldKey, newKey] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)]
    const sealed = box.seal('sk-test', CONTEXT)
    const both = openSecretBox(newKey, systemRandom, [Buffer.alloc(32, 8), oldKey])
    expect(both.open(sealed, CONTEXT)).toBe('sk-test')
    expect(() => both.open(sealed, `${CONTEXT}2`)).toThrow('altered')
    const anew = both.seal('sk-test', CONTEXT)
    expect(openSecretBox(newKey, systemRandom).open(anew, CONTEXT)).toBe('sk-test')
    expect(() => box.open(anew, CONTEXT)).toThrow(UnknownMasterKeyError)
  })

  test('a master key of another length is refused', () => {
    expect(() => openSecretBox(Buffer.alloc(16), systemRandom)).toThrow('32 bytes')
  })

  test('a signature is of its bytes, its purpose and the master key', () => {
    const other = openSecretBox(Buffer.alloc(32, 8), systemRandom)
    const signatures = [
      box.sign(Buffer.from('a'), 'cursor'),
      box.sign(Buffer.from('b'), 'cursor'),
      box.sign(Buffer.from('a'), 'else'),
      other.sign(Buffer.from('a'), 'cursor'),
    ].map(signature => signature.toString('hex'))
    expect(new Set(signatures).size).toBe(4)
    expect(box.sign(Buffer.from('a'), 'cursor').toString('hex')).toBe(signatures[0])
    expect(signatures[0]).not.toContain(box.fingerprint('a'))
  })
})
