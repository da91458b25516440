import { expect, test, vi } from 'vitest'
import { openTicker, type TickerEntry } from './ticker.ts'

test('ticks each entry until it is removed, even if others throw or are removed meanwhile', () => {
  vi.useFakeTimers()
  try {
    const ticker = openTicker(10)
    const calls: string[] = []
    const named = (name: string, onTick = () => {}): TickerEntry => ({
      tickerSlot: -1,
      tick: () => {
        calls.push(name)
        onTick()
      },
      fail: error => {
        calls.push(`${name} failed: ${String(error)}`)
      },
    })
    const [b, c] = [named('b'), named('c')]
    const a = named('a', () => {
      ticker.remove(a)
      ticker.remove(b)
    })
    for (const each of [a, b, c]) ticker.add(each)
    vi.advanceTimersByTime(10)
    expect(calls).toEqual(['a', 'c'])
    ticker.remove(b)
    ticker.add(a)
    vi.advanceTimersByTime(10)
    expect(calls.slice(2).sort()).toEqual(['a', 'c'])
    ticker.remove(c)
    vi.advanceTimersByTime(10)
    expect(calls).toHaveLength(4)
    ticker.close()
  } finally {
    vi.useRealTimers()
  }
})
