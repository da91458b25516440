import { expect, test, vi } from 'vitest'
import { createElapsedClock, createSystemRuntime, createUuid, orAborted } from './runtime.ts'

test('elapsed time follows the faster clock and never goes back', () => {
  let monotonic = 100
  let calendar = 5_000
  const now = createElapsedClock(
    () => monotonic,
    () => calendar,
  )
  const at = (monotonicStep: number, calendarStep: number): number => {
    monotonic += monotonicStep
    calendar += calendarStep
    return now()
  }
  expect(at(10, 10)).toBe(10)
  // The user sets the device's clock back by a day.
  expect(at(10, -86_400_000)).toBe(20)
  // The monotonic clock stood still while the device slept.
  expect(at(0, 60_000)).toBe(60_020)
  expect(at(-5, -5)).toBe(60_020)
})

test('a wait ends at once with the reason of its signal', async () => {
  const { sleep } = createSystemRuntime()
  const controller = new AbortController()
  const waiting = sleep(3_600_000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(sleep(3_600_000, controller.signal)).rejects.toThrow('enough')
})

test('a signal without a reason, as of React Native, gives an AbortError', async () => {
  const { signal } = new AbortController()
  const old = { aborted: true, reason: undefined, addEventListener: signal.addEventListener } as AbortSignal
  await expect(orAborted(new Promise(() => {}), old)).rejects.toMatchObject({ name: 'AbortError' })
})

test('a UUID is made where the platform makes none', () => {
  const pattern = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  expect(createUuid(Math.random)).toMatch(pattern)
  try {
    vi.stubGlobal('crypto', undefined)
    expect(createUuid(Math.random)).toMatch(pattern)
    expect(createUuid(Math.random)).not.toBe(createUuid(Math.random))
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(255) })
    expect(createUuid(Math.random)).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff')
  } finally {
    vi.unstubAllGlobals()
  }
})
