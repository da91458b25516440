import { expect, test, vi } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { RefusalPause } from './refusal-pause.ts'

test('holds the answers of marked faults for a tenth of a second, up to 2,000 of them', async () => {
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
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(waits)
    expect(pause.paused).toBe(0)
    expect(pause.of(marked, 120)).toBeInstanceOf(Promise)
  } finally {
    vi.useRealTimers()
  }
})
