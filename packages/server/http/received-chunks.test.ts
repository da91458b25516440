import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReceivedChunks } from './received-chunks.ts'

test('any chunks come back in one, in their order', async () => {
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

test('one chunk is not copied', () => {
  const chunk = Buffer.from('one')
  const received = new ReceivedChunks()
  received.add(chunk)
  expect(received.join()).toBe(chunk)
})

test('a long body is joined in slices, to the same bytes', async () => {
  const received = new ReceivedChunks()
  const chunks = Array.from({ length: 100 }, (_, at) => Buffer.alloc(64 * 1024 + at, at))
  for (const chunk of chunks) received.add(chunk)
  const joining = received.join()
  expect(joining).toBeInstanceOf(Promise)
  expect((await joining).equals(Buffer.concat(chunks))).toBe(true)
})
