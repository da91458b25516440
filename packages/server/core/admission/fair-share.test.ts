import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acquire, type CapacityShare, openCapacity, openShare, release, roomOf } from './fair-share.ts'

const CAPACITY = 10_000

/** Holds as much as the share may, one by one. */
function fill(share: CapacityShare): number {
  let held = 0
  while (acquire(share, 1)) held++
  return held
}

describe('a share of a capacity', () => {
  test('one that is alone may hold about half, through all levels', () => {
    const root = openCapacity(CAPACITY, 1)
    const key = openShare(openShare(openShare(root, 3), 2), 2)
    expect(fill(key)).toBeGreaterThan(CAPACITY * 0.4)
    expect(root.used).toBe(key.used)
  })

  test('what other processes hold is not free', () => {
    const root = openCapacity(CAPACITY, 1)
    root.elsewhere = CAPACITY * 0.9
    expect(fill(openShare(root, 2))).toBeLessThan(CAPACITY * 0.07)
    expect(roomOf(root)).toBeGreaterThan(0)
    root.elsewhere = CAPACITY * 2
    expect(fill(openShare(root, 2))).toBe(0)
    root.elsewhere = 0
    expect(fill(openShare(root, 2))).toBeGreaterThan(CAPACITY * 0.4)
  })

  test('leaves room to another tenant and to another key of the same environment', () => {
    const root = openCapacity(CAPACITY, 1)
    const environment = openShare(openShare(root, 3), 2)
    fill(openShare(environment, 2))
    expect(fill(openShare(environment, 2))).toBeGreaterThan(100)
    expect(fill(openShare(openShare(openShare(root, 3), 2), 2))).toBeGreaterThan(1_000)
  })

  test('many scopes of one tenant take no more of the whole than its share', () => {
    const root = openCapacity(CAPACITY, 1)
    const environment = openShare(openShare(root, 3), 2)
    const tokens = openShare(environment, 2)
    for (let i = 0; i < 1_000; i++) fill(openShare(tokens, 1 / 8))
    expect(root.used).toBeLessThan(CAPACITY * 0.6)
    expect(fill(openShare(environment, 2))).toBeGreaterThan(10)
    expect(fill(openShare(openShare(openShare(root, 3), 2), 2))).toBeGreaterThan(1_000)
  })

  test('a hundred greedy tenants, one after the other, leave room to one that holds nothing', () => {
    const root = openCapacity(CAPACITY, 1)
    for (let i = 0; i < 100; i++) fill(openShare(root, 3))
    expect(fill(openShare(root, 3))).toBeGreaterThan(0)
    expect(root.used).toBeLessThan(CAPACITY)
  })

  test('what is given back can be held again', () => {
    const root = openCapacity(100, 1)
    const share = openShare(root, 2)
    const held = fill(share)
    release(share, held)
    expect([root.used, share.used, fill(share)]).toEqual([0, 0, held])
  })

  test('holds nothing that does not fit as a whole', () => {
    const share = openShare(openCapacity(100, 1), 2)
    expect(acquire(share, 101)).toBe(false)
    expect([share.used, share.parent?.used]).toEqual([0, 0])
  })
})

test('no order of holding and giving back passes the capacity, goes below zero or leaves a newcomer without its floor', () => {
  const step = fc.record({
    tenant: fc.nat(4),
    user: fc.nat(3),
    amount: fc.integer({ min: 1, max: 400 }),
    isGivenBack: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), steps => {
      const root = openCapacity(4_096, 1)
      const tenants = Array.from({ length: 5 }, () => openShare(root, 3))
      const users = tenants.map(tenant => Array.from({ length: 4 }, () => openShare(tenant, 2)))
      const held = new Map<CapacityShare, number[]>()
      for (const { tenant, user, amount, isGivenBack } of steps) {
        const share = users[tenant]?.[user] as CapacityShare
        const amounts = held.get(share) ?? []
        held.set(share, amounts)
        if (isGivenBack) release(share, amounts.pop() ?? 0)
        else if (acquire(share, amount)) amounts.push(amount)
        expect(root.used).toBeLessThanOrEqual(4_096)
        expect(share.used).toBe(amounts.reduce((sum, each) => sum + each, 0))
        expect(share.used).toBeGreaterThanOrEqual(0)
        expect(roomOf(openShare(root, 3))).toBeGreaterThanOrEqual(4)
      }
    }),
  )
})
