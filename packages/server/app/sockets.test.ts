import { expect, test } from 'vitest'
import { toMaxUpstream } from './sockets.ts'

test.each([
  [100, 64],
  [1024, 320],
  [20_000, 6250],
  [1_048_576, 16_384],
])('of %i open files, %i are for connections to providers', (maxOpenFiles, maxUpstream) => {
  expect(toMaxUpstream(maxOpenFiles)).toBe(maxUpstream)
})
