import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeptBytes } from './kept-bytes.ts'

test('returns any pieces joined in their order, once', () => {
  const pieces = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 50 })
  fc.assert(
    fc.property(pieces, sizes => {
      const all = sizes.map((length, at) => Buffer.alloc(length, at))
      const kept = new KeptBytes()
      for (const piece of all) kept.add(piece)
      expect(kept.size).toBe(Buffer.concat(all).length)
      expect(kept.peek().equals(Buffer.concat(all))).toBe(true)
      const rest = Buffer.from('rest')
      expect(kept.take(rest).equals(Buffer.concat([...all, rest]))).toBe(true)
      expect([kept.size, kept.take(rest)]).toEqual([0, rest])
    }),
  )
})

test('copies the pieces behind the first, so that the memory that they are slices of is not kept', () => {
  const memory = Buffer.alloc(64 * 1024, 'x')
  const kept = new KeptBytes()
  for (let at = 0; at < 1_000; at++) kept.add(memory.subarray(at, at + 1))
  memory.fill('y')
  expect(String(kept.peek())).toBe('x'.repeat(1_000))
  expect(kept.peek().buffer.byteLength).toBeLessThan(4 * 1_024)
})
