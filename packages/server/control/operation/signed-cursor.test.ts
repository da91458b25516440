import { describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { openCursor, signCursor } from './signed-cursor.ts'

const box = openSecretBox(Buffer.alloc(32, 7), systemRandom)
const plain = Buffer.from('the list made this').toString('base64url')
const sign = (cursor: string): string =>
  (signCursor({ next_cursor: cursor }, box) as { next_cursor: string }).next_cursor

describe('a cursor', () => {
  test('is returned to its list unchanged', () => {
    expect(openCursor({ cursor: sign(plain), limit: 3 }, box)).toEqual({ cursor: plain, limit: 3 })
  })

  test('is rejected with any bit changed, shortened or in another spelling', () => {
    const signed = sign(plain)
    const bytes = Buffer.from(signed, 'base64url')
    const forged = [plain, '', 'x', `${signed}=`, `${signed} `, signed.slice(0, -2), signed.slice(0, 10)]
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      forged.push(changed.toString('base64url'))
    }
    for (const cursor of forged) {
      expect(() => openCursor({ cursor }, box)).toThrow('The cursor is not one of this route and filter.')
    }
  })

  test('is rejected if another master key signed it', () => {
    const other = openSecretBox(Buffer.alloc(32, 8), systemRandom)
    expect(() => openCursor({ cursor: sign(plain) }, other)).toThrow('cursor')
  })

  test('passes a result or query without a cursor unchanged', () => {
    for (const value of [undefined, { next_cursor: null }, { id: 1 }]) {
      expect(signCursor(value, box)).toBe(value)
      expect(openCursor(value, box)).toBe(value)
    }
  })
})
