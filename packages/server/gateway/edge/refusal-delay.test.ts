import { expect, test, vi } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { RefusalDelay } from './refusal-delay.ts'

test('delays the answers of marked faults by up to half a second, up to 2,000 of them', async () => {
  vi.useFakeTimers()
  try {
    const delay = new RefusalDelay()
    const [marked, other] = [new Fault('rate_limit_exceeded', 'a'), new Fault('rate_limit_exceeded', 'b')]
    delay.mark(marked)
    expect(delay.delayFor(other, 0)).toBeUndefined()
    const waits = Array.from({ length: 2_000 }, (_, at) => delay.delayFor(marked, at / 100))
    expect([delay.delayed, delay.delayFor(marked, 20)]).toEqual([2_000, undefined])
    expect(vi.getTimerCount()).toBe(4)
    await vi.advanceTimersByTimeAsync(99)
    expect(delay.delayed).toBe(2_000)
    // The first slot was opened while nothing was delayed, the other three while 500 or more were.
    await vi.advanceTimersByTimeAsync(1)
    expect(delay.delayed).toBe(1_500)
    await vi.advanceTimersByTimeAsync(400)
    await Promise.all(waits)
    expect(delay.delayed).toBe(0)
    expect(delay.delayFor(marked, 120)).toBeInstanceOf(Promise)
  } finally {
    vi.useRealTimers()
  }
})

test('delays an answer for longer the more are delayed', async () => {
  vi.useFakeTimers()
  try {
    const delay = new RefusalDelay()
    const marked = new Fault('rate_limit_exceeded', 'a')
    delay.mark(marked)
    const ends: number[] = []
    const startedAt = Date.now()
    for (let at = 0; at < 100; at += 20) {
      for (let count = 0; count < 10; count++) {
        void delay.delayFor(marked, at)?.then(() => ends.push(Date.now() - startedAt))
      }
    }
    await vi.advanceTimersByTimeAsync(1_000)
    // Ten more each time: 100, 200, ... milliseconds.
    expect([...new Set(ends)]).toEqual([100, 200, 300, 400, 500])
  } finally {
    vi.useRealTimers()
  }
})
