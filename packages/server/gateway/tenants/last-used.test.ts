import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LastUsed } from './last-used.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('stores a thousand uses with one write per minute, the latest of each key', async () => {
  const written: Record<string, number>[] = []
  const lastUsed = new LastUsed({
    store: async uses => void written.push(Object.fromEntries(uses)),
    log: { warn: () => {} },
  })
  for (let at = 0; at < 1000; at++) lastUsed.note(at % 2 === 0 ? 'even' : 'odd', at)
  await vi.advanceTimersByTimeAsync(59_999)
  expect(written).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(written).toEqual([{ even: 998, odd: 999 }])
  await vi.advanceTimersByTimeAsync(120_000)
  expect(written).toHaveLength(1)
  lastUsed.note('even', 1000)
  await lastUsed.close()
  expect(written.at(-1)).toEqual({ even: 1000 })
})

test('stores uses with the next write after a failed one, unless newer ones exist', async () => {
  const written: Record<string, number>[] = []
  let isAway = true
  const lastUsed = new LastUsed({
    store: async uses => {
      if (isAway) throw new Error('the database is away')
      written.push(Object.fromEntries(uses))
    },
    log: { warn: () => {} },
  })
  lastUsed.note('a', 1)
  lastUsed.note('b', 1)
  await lastUsed.flush()
  lastUsed.note('b', 2)
  isAway = false
  await lastUsed.close()
  expect(written).toEqual([{ a: 1, b: 2 }])
})
