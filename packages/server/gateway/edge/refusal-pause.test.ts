import { expect, test, vi } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { RefusalPause } from './refusal-pause.ts'

test('holds the answers of marked faults for up to half a second, up to 2,000 of them', async () => {
  vi.useFakeTimers()
  try {
    const pause = new RefusalPause()
    const [marked, other] = [new Fault('rate_limit_exceeded', 'a'), new Fault('rate_limit_exceeded', 'b')]
    pause.note(marked)
    expect(pause.of(other, 0)).toBeUndefined()
    const waits = Array.from({ length: 2_000 }, (_, at) => pause.of(marked, at / 100))
    expect([pause.paused, pause.of(marked, 20)]).toEqual([2_000, undefined])
    expect(vi.getTimerCount()).toBe(4)
    await vi.advanceTimersByTimeAsync(99)
    expect(pause.paused).toBe(2_000)
    // The first slot was opened while nothing was held, the other three while 500 or more were.
    await vi.advanceTimersByTimeAsync(1)
    expect(pause.paused).toBe(1_500)
    await vi.advanceTimersByTimeAsync(400)
    await Promise.all(waits)
    expect(pause.paused).toBe(0)
    expect(pause.of(marked, 120)).toBeInstanceOf(Promise)
  } finally {
    vi.useRealTimers()
  }
})

test('holds an answer for longer the more are held', async () => {
  vi.useFakeTimers()
  try {
    const pause = new RefusalPause()
    const marked = new Fault('rate_limit_exceeded', 'a')
    pause.note(marked)
    const ends: number[] = []
    const startedAt = Date.now()
    for (let at = 0; at < 100; at += 20) {
      for (let count = 0; count < 10; count++) {
        void pause.of(marked, at)?.then(() => ends.push(Date.now() - startedAt))
      }
    }
    await vi.advanceTimersByTimeAsync(1_000)
    // Ten more each time: 100, 200, ... milliseconds.
    expect([...new Set(ends)]).toEqual([100, 200, 300, 400, 500])
  } finally {
    vi.useRealTimers()
  }
})
