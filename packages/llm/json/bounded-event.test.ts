import { expect, test } from 'vitest'
import { assertBoundedEvent } from './bounded-event.ts'

const many = (start: string): string => `{${start}"choices":[${'{},'.repeat(40_000)}{}]}`

test('an event with many values is refused, whatever stands at its beginning', () => {
  for (const start of [
    '',
    '"a":0,"a":0,',
    `"${'n'.repeat(20_000)}":0,`,
    `"d":${'['.repeat(80)}${']'.repeat(80)},`,
  ])
    expect(() => assertBoundedEvent(many(start))).toThrow('too many values')
})

test('a long event with few values is accepted, also with a name twice', () => {
  const text = 'x'.repeat(200_000)
  expect(() => assertBoundedEvent(JSON.stringify({ delta: text }))).not.toThrow()
  expect(() => assertBoundedEvent(`{"delta":"${text}","delta":"${text}"}`)).not.toThrow()
})
