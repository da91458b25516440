import { expect, test } from 'vitest'
import { countToClose } from './spread-requests.ts'

test.each([
  ['is alone', 100, [], 0],
  ['runs as many requests as the others', 32, [32], 0],
  ['runs a quarter more than the mean', 40, [24], 0],
  ['runs all of few requests', 4, [0], 0],
  ['runs more than a quarter above the mean', 41, [23], 5],
  ['runs all requests', 64, [0], 16],
  ['runs fewer than another one', 10, [100], 0],
  ['got no requests yet, besides two that have all', 0, [30, 30], 0],
  ['has all, besides two new ones', 60, [0, 0], 20],
])('a worker that %s closes half of what it has above the mean', (_, own, others, count) => {
  expect(countToClose(own, others)).toBe(count)
})
