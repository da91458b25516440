import { expect, test } from 'vitest'
import { EventShape } from './event-shape.ts'

const isDoubtful = new Uint8Array(256)
isDoubtful[101] = 1

/** The length that is matched of the text, by a shape that learned these events. */
function matchAfter(learned: readonly string[], text: string): number {
  const shape = new EventShape(isDoubtful)
  for (const each of learned) shape.learn(Buffer.from(each), [])
  return shape.match(Buffer.from(text), 0, [])
}

const event = (content: string, padding = 'x', id = '7'): string =>
  `data: {"id":${id},"delta":{"content":"${content}"},"padding":"${padding}"}\n\n`

test.each([
  ['an equal event, after one', [event('a')], event('a')],
  ['another text, after two', [event('a'), event('bc')], event(' something longer')],
  ['an empty text', [event('a'), event('bc')], event('')],
  ['two strings that differ, after three', [event('a'), event('b'), event('c', 'yz')], event('d', 'w')],
  ['two strings that differ, after two', [event('a'), event('b', 'yz')], event('c', 'w')],
  ['escapes', [event('a'), event('bc')], event('\\n\\\\')],
])('matches %s', (_, learned, text) => {
  expect(matchAfter(learned, text)).toBe(text.length)
  expect(matchAfter(learned, text + event('next'))).toBe(text.length)
})

test.each([
  ['nothing', [], event('a')],
  ['another text, after one', [event('a')], event('b')],
  ['a number that differs', [event('a'), event('b')], event('a', 'x', '8')],
  ['a line break in a string', [event('a'), event('b')], event('\n')],
  ['half an event', [event('a'), event('b')], event('c').slice(0, -1)],
  ['half a text', [event('a'), event('b')], event('c').slice(0, 32)],
  ['a name that differs', ['data: {"a":1}\n\n', 'data: {"b":1}\n\n'], 'data: {"c":1}\n\n'],
  ['a longer event than it compares', [event('a'.repeat(3_000))], event('a'.repeat(3_000))],
])('does not match %s', (_, learned, text) => {
  expect(matchAfter(learned, text)).toBe(0)
})

test.each([
  ['an escaped quote', event('\\"')],
  ['a bracket', event('a [')],
  ['a doubtful first byte', event('each')],
])('leaves %s in a string to be examined', (_, text) => {
  expect(matchAfter([event('a'), event('b')], text)).toBe(-1)
})

test('gives the nulls at the place of the matched event', () => {
  const shape = new EventShape(isDoubtful)
  for (const text of ['a', 'bc'])
    shape.learn(Buffer.from(event(text)), [0, 4, event(text).length - 5, event(text).length])
  const nulls: number[] = []
  const chunk = event('one') + event('three')
  const end = shape.match(Buffer.from(chunk), event('one').length, nulls)
  expect(end).toBe(chunk.length)
  expect(nulls).toEqual([event('one').length, event('one').length + 4, chunk.length - 5, chunk.length])
})

test('gives up on a stream whose events differ each time', () => {
  const events = Array.from({ length: 8 }, (_, i) => event('a', 'x', String(i)))
  expect(matchAfter(events.slice(0, 7), event('a', 'x', '6'))).toBeGreaterThan(0)
  expect(matchAfter(events, event('a', 'x', '7'))).toBe(0)
})
