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

test('refuses a body above its bound before the rest is written', async () => {
  const body = toSentJson(LONG)
  if (!('pieces' in body)) throw new Error('the body is written at once')
  const length = (await writeBody(body, UNKNOWN_OWNER)).length
  let pieces = 0
  const counted = {
    *pieces() {
      for (const piece of body.pieces()) {
        pieces++
        yield piece
      }
    },
  }
  // Vitest prints a whole body that it does not expect.
  const write = async (maxBytes: number) =>
    (await writeBody(counted, UNKNOWN_OWNER, undefined, maxBytes)).length
  await expect(write(1_000_000)).rejects.toMatchObject({ code: 'request_too_large', status: 413 })
  expect(pieces).toBeLessThan(20)
  expect(await write(length)).toBe(length)
  await expect(write(length - 1)).rejects.toMatchObject({ code: 'request_too_large' })
})
