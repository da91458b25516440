import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText } from './decode-text.ts'

test('any bytes become the text that the standard decoder makes of them', () => {
  const some = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary' }).map(text => Buffer.from(text)),
  )
  fc.assert(
    fc.property(some, fc.constantFrom(0, 2_000, 2_048, 5_000), (bytes, padding) => {
      const all = Buffer.concat([bytes, Buffer.alloc(padding, 'a'), bytes])
      expect(decodeText(all)).toBe(all.toString('utf8'))
    }),
  )
})

test('a byte order mark is kept, at any length', () => {
  for (const padding of [0, 5_000]) {
    const bytes = Buffer.from(`\ufeff${'a'.repeat(padding)}`)
    expect(decodeText(bytes)).toBe(bytes.toString('utf8'))
  }
})
