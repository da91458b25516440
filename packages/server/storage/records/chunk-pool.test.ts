import { expect, test } from 'vitest'
import { CHUNK_BYTES, ChunkPool } from './chunk-pool.ts'
import { MAX_UNIT_BYTES } from './row-writer.ts'
import { TextChunks } from './text-chunks.ts'

test('uses chunks again, and keeps no more than 4 MiB of them', () => {
  const pool = new ChunkPool()
  const chunks = Array.from({ length: 100 }, () => pool.take(1))
  pool.give(chunks)
  const taken = new Set(Array.from({ length: 100 }, () => pool.take(1)))
  expect(chunks.filter(chunk => taken.has(chunk)).length).toBe((4 * 1024 * 1024) / CHUNK_BYTES)
})

test('does not keep chunks of another size', () => {
  const pool = new ChunkPool()
  const large = pool.take(CHUNK_BYTES + 1)
  expect(large.length).toBe(CHUNK_BYTES + 1)
  pool.give([large])
  expect(pool.take(CHUNK_BYTES + 1)).not.toBe(large)
  expect(pool.take(1).length).toBe(CHUNK_BYTES)
})

test('texts of any length and alphabet are read as they were written', () => {
  const texts = new TextChunks(new ChunkPool())
  const samples = ['', 'a', 'ü€😀', 'x'.repeat(CHUNK_BYTES), '€'.repeat(CHUNK_BYTES), 'y'.repeat(1_000)]
  const places = Array.from({ length: 200 }, (_, index) => {
    const text = samples[index % samples.length] as string
    texts.reserve(text.length * MAX_UNIT_BYTES)
    const start = texts.end
    return { text, start, end: texts.add(text), number: texts.number }
  })
  for (const { text, start, end, number } of places)
    expect(texts.chunk(number).toString('utf8', start, end)).toBe(text)
})
