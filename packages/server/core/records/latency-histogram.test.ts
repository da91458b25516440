import { describe, expect, test } from 'vitest'
import { LATENCY_SLOTS, toLatencyQuantile } from './latency-histogram.ts'

function counts(bySlot: Readonly<Record<number, number>>): number[] {
  return Array.from({ length: LATENCY_SLOTS }, (_, slot) => bySlot[slot] ?? 0)
}

describe('toLatencyQuantile', () => {
  test('returns null if nothing was counted', () => {
    expect(toLatencyQuantile(counts({}), 0.5)).toBeNull()
  })

  test('is within 13 % of the true value from 10 ms to 10 min', () => {
    for (let ms = 10; ms < 590_000; ms *= 1.013) {
      const slot = 1 + Math.floor(Math.log(ms / 10) / Math.log(1.27))
      const told = toLatencyQuantile(counts({ [slot]: 1 }), 0.95) ?? 0
      expect(Math.abs(told - ms) / ms).toBeLessThan(0.131)
    }
  })

  test('returns the middle of the slot that contains the rank', () => {
    const mixed = counts({ 0: 50, 10: 45, 20: 5 })
    expect(toLatencyQuantile(mixed, 0.5)).toBe(5)
    expect(toLatencyQuantile(mixed, 0.51)).toBe(96.9)
    expect(toLatencyQuantile(mixed, 0.95)).toBe(96.9)
    expect(toLatencyQuantile(mixed, 0.96)).toBe(1057.2)
  })
})
