import { describe, expect, test } from 'vitest'
import type { AliasStrategy } from '../tenancy/tenancy.ts'
import { orderTargets } from './order-targets.ts'
import { hashText } from './rendezvous.ts'

const target = (name: string, weight = 1, price: number | null = 1, latencyMs?: number) => ({
  id: name,
  weight,
  pricing: price === null ? null : { input: price, output: price },
  latencyMs,
})

const order = (
  strategy: AliasStrategy,
  targets: ReturnType<typeof target>[],
  share = 0,
  affinity?: number,
): string =>
  orderTargets(strategy, targets, share, affinity)
    .map(({ id }) => id)
    .join('')

test('priority: keeps the given order', () => {
  expect(order('priority', [target('a', 0, 9, 9), target('b', 9, 1, 1)], 0.99)).toBe('ab')
})

describe('weighted', () => {
  const targets = [target('a', 1), target('b', 0), target('c', 3)]
  test.each([
    [0, 'abc'],
    [0.2499, 'abc'],
    [0.25, 'cab'],
    [0.9999, 'cab'],
  ])('a share of %d gives %s, with a target of weight 0 for fallback only', (share, expected) => {
    expect(order('weighted', targets, share)).toBe(expected)
  })

  test('keeps the given order if no target has a weight', () => {
    expect(order('weighted', [target('a', 0), target('b', 0)], 0.7)).toBe('ab')
    expect(order('weighted', [target('a', 0), target('b', 0)], 0.7, 1)).toBe('ab')
  })

  test('gives a conversation the same order whatever is drawn, and conversations their targets by weight', () => {
    const counts = new Map<string, number>()
    for (let n = 0; n < 4_000; n++) {
      const affinity = hashText(`conversation ${n}`, 100)
      const all = order('weighted', targets, 0, affinity)
      expect(order('weighted', targets, 0.9, affinity)).toBe(all)
      counts.set(all, (counts.get(all) ?? 0) + 1)
    }
    expect([...counts.keys()].toSorted()).toEqual(['abc', 'cab'])
    expect(Math.abs((counts.get('cab') ?? 0) / 4_000 - 0.75)).toBeLessThan(0.02)
  })
})

test('lowest_cost: puts unknown prices last and keeps the priority of equal prices', () => {
  const targets = [target('a', 1, null), target('b', 1, 2), target('c', 1, 1), target('d', 1, 2)]
  expect(order('lowest_cost', targets)).toBe('cbda')
})

test('lowest_latency: puts targets without a measurement first and failed ones last', () => {
  const targets = [
    target('a', 1, 1, 300),
    target('b', 1, 1, Number.POSITIVE_INFINITY),
    target('c', 1, 1, 200),
    target('d'),
    target('e'),
  ]
  expect(order('lowest_latency', targets)).toBe('decab')
})
