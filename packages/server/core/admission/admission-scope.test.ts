import { expect, test } from 'vitest'
import { AdmissionScope, takeRequest } from './admission-scope.ts'
import { openCapacity } from './fair-share.ts'
import { toBucketRate } from './token-bucket.ts'

function openProcess(): AdmissionScope {
  return new AdmissionScope({
    key: '',
    logName: '',
    parent: undefined,
    rate: undefined,
    requests: openCapacity(100, 1),
    bytes: openCapacity(100, 1),
    answers: openCapacity(100, 1),
  })
}

const FACTORS = { requests: 1, bytes: 1, answers: 1 }

test("an end user that spends its tokens leaves its key's to others, and a key that spends its own refuses all its end users", () => {
  const key = openProcess().openChild({
    key: 'k',
    logName: 'k',
    rate: toBucketRate(3, 1),
    factors: FACTORS,
  })
  const [ada, bob] = ['ada', 'bob'].map(name =>
    key.openChild({ key: name, logName: 'k', rate: toBucketRate(2, 1), factors: FACTORS }),
  ) as [AdmissionScope, AdmissionScope]
  expect([takeRequest(ada, 0), takeRequest(ada, 0)]).toEqual([0, 0])
  expect(takeRequest(ada, 0)).toBeCloseTo(500)
  expect(takeRequest(bob, 0)).toBe(0)
  // The key has no token left. Bob's own second one is not spent on the refusal.
  expect(takeRequest(bob, 0)).toBeCloseTo(1_000 / 3)
  expect(takeRequest(bob, 400)).toBe(0)
})

test('a scope is idle once its bucket is full, nothing is open and no child is left', () => {
  const key = openProcess().openChild({
    key: 'k',
    logName: 'k',
    rate: toBucketRate(1, 5),
    factors: FACTORS,
  })
  expect(key.isIdle(0)).toBe(true)
  takeRequest(key, 0)
  expect([key.isIdle(999), key.isIdle(1_000)]).toEqual([false, true])
  const child = key.openChild({ key: 'c', logName: 'k', rate: undefined, factors: FACTORS })
  expect(key.isIdle(1_000)).toBe(false)
  child.onEvicted()
  expect(key.isIdle(1_000)).toBe(true)
  key.requests.used++
  expect(key.isIdle(1_000)).toBe(false)
})
