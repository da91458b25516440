import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCurrent, listPublished, planRotation, type SigningKey } from './signing-schedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const key = (activatesAt: number): SigningKey => ({ kid: String(activatesAt), publicJwk: {}, activatesAt })
const kidsOf = (keys: readonly SigningKey[]): number[] => keys.map(({ activatesAt }) => activatesAt)

/** Applies the plan like the job, at one moment. */
function turn(keys: readonly SigningKey[], now: number): SigningKey[] {
  const { activations, forgotten } = planRotation(keys, now)
  return [...keys.filter(each => !forgotten.includes(each)), ...activations.map(key)]
}

test('creates a key that signs at once and its successor in the first run', () => {
  expect(planRotation([], 1000)).toEqual({ activations: [1000, 1000 + 30 * DAY], ended: [], forgotten: [] })
  expect(planRotation([key(1000), key(1000 + 30 * DAY)], 1000).activations).toEqual([])
})

test('signs with a key for 30 days, then with the next one, and creates its successor', () => {
  const keys = turn([], 0)
  expect(findCurrent(keys, 30 * DAY - 1)?.activatesAt).toBe(0)
  expect(findCurrent(keys, 30 * DAY)?.activatesAt).toBe(30 * DAY)
  const plan = planRotation(keys, 30 * DAY)
  expect(plan.activations).toEqual([60 * DAY])
  expect(kidsOf(plan.ended)).toEqual([0])
})

test('publishes a previous key for two more hours and keeps it for 30 days', () => {
  const keys = turn(turn([], 0), 30 * DAY)
  expect(kidsOf(listPublished(keys, 30 * DAY + 2 * HOUR - 1))).toEqual([0, 30 * DAY, 60 * DAY])
  expect(kidsOf(listPublished(keys, 30 * DAY + 2 * HOUR))).toEqual([30 * DAY, 60 * DAY])
  expect(kidsOf(planRotation(keys, 60 * DAY - 1).forgotten)).toEqual([])
  expect(kidsOf(planRotation(keys, 60 * DAY).forgotten)).toEqual([0])
})

test('at any time: a key signs, the next is published a day before, and no key is removed while its tokens are valid', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100 * DAY }), { maxLength: 30 }), pauses => {
      let now = 0
      let keys = turn([], now)
      const firstSeen = new Map(keys.map(each => [each.kid, now]))
      for (const pause of pauses) {
        const last = findCurrent(keys, now + pause)
        now += pause
        // The key that signed until now may have tokens that are valid for another hour.
        keys = turn(keys, now)
        for (const each of keys) if (!firstSeen.has(each.kid)) firstSeen.set(each.kid, now)
        expect(listPublished(keys, now)).toContainEqual(last)
        const current = findCurrent(keys, now)
        expect(current).toBeDefined()
        expect(keys.filter(each => each.activatesAt > now)).toHaveLength(1)
        if (current?.activatesAt !== 0) {
          const notice = (current?.activatesAt ?? 0) - (firstSeen.get(current?.kid ?? '') ?? 0)
          expect(notice).toBeGreaterThanOrEqual(DAY)
        }
      }
    }),
  )
})
