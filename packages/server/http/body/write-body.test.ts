import { toSentJson } from '@rideau/llm/json/unwritten-json'
import { expect, test } from 'vitest'
import { UNKNOWN_OWNER } from '../fairness/loop-turns.ts'
import { writeBody } from './write-body.ts'

const LONG = { text: '\u0001é"'.repeat(2_000_000), list: Array.from({ length: 20_000 }, (_, at) => ({ at })) }

test('returns a short body at once', () => {
  expect(writeBody(toSentJson({ a: 1 }), UNKNOWN_OWNER)).toEqual(Buffer.from('{"a":1}'))
})

test('writes a long body in slices, between which other work is done', async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 0)
  const bytes = await writeBody(toSentJson(LONG), UNKNOWN_OWNER)
  clearInterval(timer)
  expect(bytes.equals(Buffer.from(JSON.stringify(LONG)))).toBe(true)
  expect(ticks).toBeGreaterThan(5)
})

test('stops to write what is not wanted any more', async () => {
  let asked = 0
  const bytes = await writeBody(toSentJson(LONG), UNKNOWN_OWNER, () => ++asked > 3)
  expect(bytes.length).toBeLessThan(5_000_000)
})
