import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { UNKNOWN_OWNER } from '../fairness/loop-turns.ts'
import { digestBody } from './digest-body.ts'

const LONG = Buffer.alloc(64 * 1_048_576 + 1, 'a body')

test('returns the SHA-256 of a body of any length', async () => {
  for (const length of [0, 1, 262_144, 262_145, LONG.length]) {
    const body = LONG.subarray(0, length)
    const expected = createHash('sha256').update(body).digest('hex')
    expect(await digestBody(body, UNKNOWN_OWNER, () => false)).toBe(expected)
  }
})

test('digests a long body in slices, between which other work is done', async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 0)
  await digestBody(LONG, UNKNOWN_OWNER, () => false)
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(5)
})

test('stops to digest what is not wanted any more', async () => {
  let asked = 0
  await digestBody(LONG, UNKNOWN_OWNER, () => ++asked > 3)
  expect(asked).toBeLessThan(10)
})
