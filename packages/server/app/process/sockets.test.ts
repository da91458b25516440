import { expect, test } from 'vitest'
import { toMaxUpstream } from './sockets.ts'

test.each([
  [100, 1, 64],
  [1024, 1, 320],
  [20_000, 1, 6250],
  [1_048_576, 1, 16_384],
  [1024, 8, 320],
  [1_048_576, 8, 2_048],
])(
  'keeps of %i open files, with workers: %i, %i for connections to providers',
  (maxOpenFiles, workers, max) => {
    expect(toMaxUpstream(maxOpenFiles, workers)).toBe(max)
  },
)
