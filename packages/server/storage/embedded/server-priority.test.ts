import { expect, test } from 'vitest'
import { parseSessionNice } from './server-priority.ts'

test.each([
  ['/autogroup-51046 nice 0\n', 0],
  ['/autogroup-7 nice 19\n', 19],
  ['/autogroup-7 nice -5\n', -5],
  // No session but that of the machine's first process, as with a program that a minimal init starts.
  ['', 0],
])('%j is a session with the nice value %d', (autogroup, nice) => {
  expect(parseSessionNice(autogroup)).toBe(nice)
})
