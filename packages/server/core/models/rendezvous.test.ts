import { expect, test } from 'vitest'
import { hashText, orderByRendezvous } from './rendezvous.ts'

const KEYS = 8_000
const choices = Array.from({ length: 8 }, (_, n) => ({
  id: `0190a1b2-0000-7000-8000-00000000000${n}`,
  weight: 1,
}))
const keyOf = (n: number): number => hashText(`user-${n}`, 100)
const firstOf = (of: typeof choices, n: number): string => orderByRendezvous(of, keyOf(n))[0]?.id ?? ''

function shares(of: typeof choices): number[] {
  const counts = new Map<string, number>()
  for (let n = 0; n < KEYS; n++) counts.set(firstOf(of, n), (counts.get(firstOf(of, n)) ?? 0) + 1)
  return of.map(({ id }) => (counts.get(id) ?? 0) / KEYS)
}

test('gives each key the same order, whatever the order of the choices', () => {
  for (let n = 0; n < 100; n++)
    expect(orderByRendezvous(choices.toReversed(), keyOf(n))).toEqual(orderByRendezvous(choices, keyOf(n)))
})

test('spreads keys evenly, and by weight', () => {
  for (const share of shares(choices)) expect(Math.abs(share - 1 / 8)).toBeLessThan(0.02)
  const [first, second, third, fourth] = choices.map((choice, n) => ({ ...choice, weight: n }))
  const weighted = shares([first, second, third, fourth] as typeof choices)
  for (const [n, share] of weighted.entries()) expect(Math.abs(share - n / 6)).toBeLessThan(0.02)
  expect(weighted[0]).toBe(0)
})

test('moves only the keys of a choice that was removed', () => {
  const rest = choices.slice(1)
  let moved = 0
  for (let n = 0; n < KEYS; n++) {
    const before = firstOf(choices, n)
    if (before === choices[0]?.id) moved++
    else expect(firstOf(rest, n)).toBe(before)
  }
  expect(moved / KEYS).toBeLessThan(1 / 8 + 0.02)
})

test('hashes no more than the given number of characters', () => {
  expect(hashText('abcdef', 3)).toBe(hashText('abcxyz', 3))
  expect(hashText('abcdef', 4)).not.toBe(hashText('abcxyz', 4))
})
