import { expect, test } from 'vitest'
import { toSocketBudget } from './sockets.ts'

test.each([
  [1024, undefined, { upstream: 384, gateway: 336, control: 48 }],
  [20_000, undefined, { upstream: 9872, gateway: 8638, control: 1234 }],
  [20_000, 16_000, { upstream: 16_000, gateway: 3276, control: 468 }],
  [300, undefined, { upstream: 64, gateway: 56, control: 8 }],
  [undefined, undefined, { upstream: 16_384, gateway: undefined, control: undefined }],
  [undefined, 100, { upstream: 100, gateway: undefined, control: undefined }],
])('divides %s open files, with %s for providers', (maxOpenFiles, upstream, budget) => {
  expect(toSocketBudget(maxOpenFiles, upstream)).toEqual(budget)
})
