import { afterEach, expect, test, vi } from 'vitest'
import { noteChunk } from './stream-pace.ts'

afterEach(() => vi.useRealTimers())

/** Names that no other test file of the process has. */
const ownedBy = (keyId: string) => ({ environment: undefined, caller: { keyId }, endUser: undefined })
const MiB = 1_048_576

test('streams of one caller bring 16 MiB at once, and then 16 MiB a second', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const owner = ownedBy('first of streams')
  expect(noteChunk(owner, 16 * MiB)).toBe(0)
  expect(noteChunk(owner, 8 * MiB)).toBeCloseTo(500)
  expect(noteChunk(ownedBy('second of streams'), 8 * MiB)).toBe(0)
  vi.advanceTimersByTime(1_000)
  expect(noteChunk(owner, 8 * MiB)).toBe(0)
})

test('a wait of less than a millisecond is saved up, since a timer cannot be so short', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const owner = ownedBy('third of streams')
  noteChunk(owner, 16 * MiB)
  expect(noteChunk(owner, 10 * 1024)).toBe(0)
  expect(noteChunk(owner, 10 * 1024)).toBeCloseTo(1.22)
})
