import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkBuffer } from './chunk-buffer.ts'

test('returns any pieces joined in their order, once', () => {
  const pieces = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 50 })
  fc.assert(
    fc.property(pieces, sizes => {
      const all = sizes.map((length, at) => Buffer.alloc(length, at))
      const buffer = new ChunkBuffer()
      for (const piece of all) buffer.add(piece)
      expect(buffer.size).toBe(Buffer.concat(all).length)
      expect(buffer.peek().equals(Buffer.concat(all))).toBe(true)
      const rest = Buffer.from('rest')
      expect(buffer.take(rest).equals(Buffer.concat([...all, rest]))).toBe(true)
      expect([buffer.size, buffer.take(rest)]).toEqual([0, rest])
    }),
  )
})

test('copies the pieces behind the first, so that the memory that they are slices of is not kept', () => {
  const memory = Buffer.alloc(64 * 1024, 'x')
  const buffer = new ChunkBuffer()
  for (let at = 0; at < 1_000; at++) buffer.add(memory.subarray(at, at + 1))
  memory.fill('y')
  expect(String(buffer.peek())).toBe('x'.repeat(1_000))
  expect(buffer.peek().buffer.byteLength).toBeLessThan(4 * 1_024)
})
