import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReceivedChunks } from './received-chunks.ts'

test('joins any chunks in their order', async () => {
  const size = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3_000 }))
  await fc.assert(
    fc.asyncProperty(fc.array(size, { maxLength: 1_200 }), async sizes => {
      const chunks = sizes.map((length, at) => Buffer.alloc(length, at))
      const received = new ReceivedChunks()
      for (const chunk of chunks) received.add(chunk)
      const joined = await received.join()
      expect(received.size).toBe(joined.length)
      expect(joined.equals(Buffer.concat(chunks))).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('returns a single chunk without a copy', () => {
  const chunk = Buffer.from('one')
  const received = new ReceivedChunks()
  received.add(chunk)
  expect(received.join()).toBe(chunk)
})

test('joins a long body in slices, to the same bytes', async () => {
  const received = new ReceivedChunks()
  const chunks = Array.from({ length: 100 }, (_, at) => Buffer.alloc(64 * 1024 + at, at))
  for (const chunk of chunks) received.add(chunk)
  const joining = received.join()
  expect(joining).toBeInstanceOf(Promise)
  expect((await joining).equals(Buffer.concat(chunks))).toBe(true)
})
