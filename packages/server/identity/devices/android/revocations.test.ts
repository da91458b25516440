import { expect, test } from 'vitest'
import { type LoadedRevocations, Revocations } from './revocations.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const toList = (serial: string, maxAgeMs?: number): LoadedRevocations => ({
  serials: new Set([serial]),
  maxAgeMs,
})

/** Revocations with a clock that the test sets, and a host that answers as the test says. */
function open(first: () => Promise<LoadedRevocations>) {
  let now = 1_000_000
  let answer = first
  let asked = 0
  const warned: object[] = []
  const revocations = new Revocations({
    load: () => {
      asked++
      return answer()
    },
    clock: { now: () => now },
    log: { warn: details => void warned.push(details) },
    firstWaitMs: 10,
  })
  return {
    revocations,
    warned,
    asked: () => asked,
    answer: (next: () => Promise<LoadedRevocations>) => {
      answer = next
    },
    /** Moves the time and lets the list be loaded if it is due. Returns how often it was asked for. */
    async after(ms: number) {
      now += ms
      revocations.refresh()
      await new Promise(resolve => setImmediate(resolve))
      return asked
    },
  }
}

test('concurrent callers wait for one load of the first list', async () => {
  const { revocations, asked } = open(async () => toList('a'))
  expect(revocations.serials.size).toBe(0)
  await Promise.all(Array.from({ length: 20 }, () => revocations.ready()))
  expect([...revocations.serials]).toEqual(['a'])
  expect(asked()).toBe(1)
})

test.each([
  ['its max-age', 2 * HOUR, 2 * HOUR],
  ['a day without one', undefined, 24 * HOUR],
  ['a day at most', 1000 * HOUR, 24 * HOUR],
  ['five minutes at least', 0, 5 * MINUTE],
])('a list is used for %s', async (_, maxAgeMs, expected) => {
  const { revocations, after, answer } = open(async () => toList('a', maxAgeMs))
  await revocations.ready()
  answer(async () => toList('b'))
  expect(await after(expected - 1)).toBe(1)
  expect(await after(1)).toBe(2)
  expect([...revocations.serials]).toEqual(['b'])
})

test('a list that cannot be replaced stays in use, and its host is asked less and less', async () => {
  const { revocations, after, answer, warned } = open(async () => toList('a', HOUR))
  await revocations.ready()
  answer(() => Promise.reject(new Error('its host could not be reached')))
  expect(await after(HOUR)).toBe(2)
  for (const [waitMs, count] of [
    [1, 3],
    [2, 4],
    [4, 5],
    [8, 6],
    [16, 7],
    [32, 8],
    [60, 9],
    [60, 10],
  ] as const) {
    expect(await after(waitMs * MINUTE - 1)).toBe(count - 1)
    expect(await after(1)).toBe(count)
  }
  expect(warned).toHaveLength(9)
  expect(warned[0]).toEqual({
    reason: 'its host could not be reached',
    age_seconds: 3600,
    retry_seconds: 60,
  })
  expect([...revocations.serials]).toEqual(['a'])
  answer(async () => toList('b', HOUR))
  await after(HOUR)
  expect([...revocations.serials]).toEqual(['b'])
  // The next failure starts at a minute again.
  answer(() => Promise.reject(new Error('down')))
  const asked = await after(HOUR)
  expect(await after(MINUTE)).toBe(asked + 1)
})

test('a host that hangs delays only the first callers, and no caller once it has failed', async () => {
  let fail: (error: Error) => void = () => {}
  const { revocations, asked, warned } = open(
    () =>
      new Promise((_, reject) => {
        fail = reject
      }),
  )
  await revocations.ready()
  expect(revocations.serials.size).toBe(0)
  fail(new Error('its host did not respond within 5 seconds'))
  await revocations.ready()
  await revocations.ready()
  expect([asked(), warned.length]).toEqual([1, 1])
})

test('a list that is being replaced delays no caller', async () => {
  const { revocations, after, answer } = open(async () => toList('a', HOUR))
  await revocations.ready()
  answer(() => new Promise(() => {}))
  await after(HOUR)
  await revocations.ready()
  expect([...revocations.serials]).toEqual(['a'])
})
