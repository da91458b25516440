import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SlidingWindow } from './sliding-window.ts'

function open(limit: number, maxKeys = 100) {
  let now = 1_000_000
  const clock = { now: () => now }
  const window = new SlidingWindow({ limit, windowMs: 60_000, maxKeys, clock })
  return { window, advance: (ms: number) => void (now += ms), now: () => now }
}

describe('a sliding window', () => {
  test('allows takes up to the limit and returns the remaining wait for the others', () => {
    const { window, advance } = open(2)
    expect(window.take('a')).toBe(0)
    advance(10_000)
    expect(window.take('a')).toBe(0)
    advance(10_000)
    expect(window.take('a')).toBe(40_000)
    expect(window.take('b')).toBe(0)
    advance(39_999)
    expect(window.take('a')).toBe(1)
    advance(1)
    expect(window.take('a')).toBe(0)
    expect(window.take('a')).toBe(10_000)
  })

  test('uncounts a take that is given back, once and no other', () => {
    const { window, advance, now } = open(2)
    window.take('a')
    advance(10_000)
    const second = now()
    window.take('a')
    window.refund('a', second)
    window.refund('a', second)
    window.refund('b', second)
    expect(window.take('a')).toBe(0)
    expect(window.take('a')).toBe(50_000)
    advance(60_000)
    window.refund('a', second)
    expect([window.take('a'), window.take('a')]).toEqual([0, 0])
  })

  test('never allows more than the limit in any minute, and allows a caller that waited for the returned time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 }), gaps => {
        const { window, advance, now } = open(3)
        const passed: number[] = []
        for (const gap of gaps) {
          advance(gap)
          const waitMs = window.take('a')
          if (waitMs > 0) {
            advance(waitMs)
            expect(window.take('a')).toBe(0)
          }
          passed.push(now())
        }
        for (const end of passed) {
          expect(passed.filter(time => time > end - 60_000 && time <= end).length).toBeLessThanOrEqual(3)
        }
      }),
    )
  })

  test('forgets the key with the oldest last take when there are too many keys', () => {
    const { window } = open(1, 2)
    for (const key of ['a', 'b', 'c']) expect(window.take(key)).toBe(0)
    expect(window.take('b')).toBeGreaterThan(0)
    expect(window.take('c')).toBeGreaterThan(0)
    expect(window.take('a')).toBe(0)
  })
})
