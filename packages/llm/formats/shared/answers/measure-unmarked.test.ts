import { expect, test } from 'vitest'
import { measureUnmarked } from './measure-unmarked.ts'

const MARKS = /"error"|stop/

test.each([
  ['whole events', 'data: a\n\ndata: b\n\n', 18],
  ['the whole events before one that is not complete', 'data: a\n\ndata: b\n', 9],
  ['the events before one with a mark', 'data: a\n\ndata: "error"\n\ndata: b\n\n', 9],
  ['the events before the first of two marks', 'data: a\n\ndata: stop\n\n"error"\n\n', 9],
  ['events that end with carriage returns', 'data: a\r\n\r\ndata: b\r\n\r\ndata: stop\r\n\r\n', 22],
  ['nothing if the first event has a mark', 'event: stop\n\ndata: b\n\n', 0],
  ['nothing of an event that is not complete', 'data: a\n', 0],
  ['nothing of nothing', '', 0],
  ['nothing of a mark alone', 'stop', 0],
])('measures %s', (_, text, length) => {
  expect(measureUnmarked(text, MARKS)).toBe(length)
})
