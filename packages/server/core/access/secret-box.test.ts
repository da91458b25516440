import { runAtOnce } from '@rideau/llm/json/run-at-once'
import { measureLongestStep } from '@rideau/llm/testing/measure-ms'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../random.ts'
import { openSecretBox, SecretBoxError, UnknownMasterKeyError } from './secret-box.ts'

const CONTEXT = 'provider_credentials:018f0000-0000-7000-8000-000000000001'
const box = openSecretBox(Buffer.alloc(32, 7), systemRandom)

function cut(sealed: Buffer, length: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < sealed.length; at += length) pieces.push(sealed.subarray(at, at + length))
  return pieces
}

describe('the secret box', () => {
  test.each(['', 'sk-test', 'ключ 🔑', 'x'.repeat(10_000)])(
    'opens what it sealed, in the same context',
    text => {
      expect(box.open(box.seal(text, CONTEXT), CONTEXT)).toBe(text)
    },
  )

  test.each([0, 1, 262_144, 262_145, 1_000_001])(
    'seals %i bytes in steps as it seals them at once',
    length => {
      const bytes = Buffer.alloc(length, 'answer')
      const sealed = runAtOnce(box.sealSteps(bytes, CONTEXT))
      expect(box.openBytes(sealed, CONTEXT).equals(bytes)).toBe(true)
      expect(sealed).toHaveLength(box.seal(bytes, CONTEXT).length)
      expect(() => box.openBytes(sealed, `${CONTEXT}2`)).toThrow(SecretBoxError)
    },
  )

  test('seals 64 MiB in short steps', () => {
    expect(measureLongestStep(box.sealSteps(Buffer.alloc(64 * 1_048_576), CONTEXT))).toBeLessThan(12)
  })

  test.each([0, 1, 262_144, 1_000_001])('opens %i bytes in pieces as it opens them at once', length => {
    const bytes = Buffer.alloc(length, 'answer')
    const sealed = box.seal(bytes, CONTEXT)
    const pieces = cut(sealed, 100_000)
    expect(runAtOnce(box.openSteps(pieces, CONTEXT)).equals(bytes)).toBe(true)
    expect(() => runAtOnce(box.openSteps(pieces, `${CONTEXT}2`))).toThrow(SecretBoxError)
    expect(() => runAtOnce(box.openSteps(cut(sealed.subarray(0, -1), 100_000), CONTEXT))).toThrow(
      SecretBoxError,
    )
  })

  test('opens in a step for each piece', () => {
    const pieces = cut(box.seal(Buffer.alloc(16 * 1_048_576), CONTEXT), 262_144)
    const steps = box.openSteps(pieces, CONTEXT)
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBe(pieces.length)
  })

  test('seals the same text to different bytes each time, which do not contain it', () => {
    const [a, b] = [box.seal('sk-very-secret', CONTEXT), box.seal('sk-very-secret', CONTEXT)]
    expect(a.equals(b)).toBe(false)
    expect(a.includes('secret')).toBe(false)
  })

  test('does not open a ciphertext that was moved to another row', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    expect(() => box.open(sealed, `${CONTEXT}2`)).toThrow(SecretBoxError)
  })

  test('does not open a ciphertext with any bit changed', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed)
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(() => box.open(altered, CONTEXT)).toThrow(SecretBoxError)
    }
  })

  test('does not open a ciphertext that is cut anywhere', () => {
    const sealed = box.seal('sk-test', CONTEXT)
    for (let length = 0; length < sealed.length; length++) {
      expect(() => box.open(sealed.subarray(0, length), CONTEXT)).toThrow(SecretBoxError)
    }
  })

  test('names both keys if a secret was sealed with another master key', () => {
    const other = openSecretBox(Buffer.alloc(32, 8), systemRandom)
    const message = `sealed under another master key (${box.keyId}; this process has ${other.keyId})`
    expect(() => other.open(box.seal('sk-test', CONTEXT), CONTEXT)).toThrow(message)
  })

  test('opens with a previous key and never seals with it', () => {
    const [oldKey, newKey] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)]
    const sealed = box.seal('sk-test', CONTEXT)
    const both = openSecretBox(newKey, systemRandom, [Buffer.alloc(32, 8), oldKey])
    expect(both.open(sealed, CONTEXT)).toBe('sk-test')
    expect(() => both.open(sealed, `${CONTEXT}2`)).toThrow('altered')
    const anew = both.seal('sk-test', CONTEXT)
    expect(openSecretBox(newKey, systemRandom).open(anew, CONTEXT)).toBe('sk-test')
    expect(() => box.open(anew, CONTEXT)).toThrow(UnknownMasterKeyError)
  })

  test('throws for a master key of another length', () => {
    expect(() => openSecretBox(Buffer.alloc(16), systemRandom)).toThrow('32 bytes')
  })

  test('signs differently for other bytes, another purpose or another master key', () => {
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
