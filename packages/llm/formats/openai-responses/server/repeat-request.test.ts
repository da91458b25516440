import { expect, test } from 'vitest'
import { toEcho } from './repeat-request.ts'

const LONG = 'x'.repeat(300_000)
const sizeOf = (body: object): number => Buffer.byteLength(JSON.stringify(body))
const echo = (body: Parameters<typeof toEcho>[0]) => toEcho(body, sizeOf(body))

test('an answer repeats the fields of a request of ordinary length', () => {
  const body = { instructions: 'Be brief.', metadata: { a: 'b' }, temperature: 0.5 }
  expect(echo(body)).toMatchObject(body)
})

test('fields that are longer than 262,144 characters are left out of the answer, as if they had not been sent', () => {
  const repeated = echo({ instructions: LONG, temperature: 0.5 })
  expect(repeated).toMatchObject({ instructions: null, temperature: 0.5 })
  expect(Object.keys(repeated)).toEqual(Object.keys(echo({})))
})

test('the input, which an answer does not repeat, leaves room for its instructions', () => {
  expect(echo({ instructions: 'Be brief.', input: LONG })).toMatchObject({ instructions: 'Be brief.' })
})
