import { expect, test } from 'vitest'
import { CurrentWindows } from './current-windows.ts'

const AT = Date.parse('2026-11-21T12:30:00Z')

test('total begins when its policy was created and never ends', () => {
  const windows = new CurrentWindows('Europe/Berlin', AT)
  expect([1234, 5678].map(createdAt => windows.get('total', createdAt))).toEqual([
    { start: 1234, end: null },
    { start: 5678, end: null },
  ])
  expect([windows.from, windows.until]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
})

test('computes a calendar window once, and encloses the time that all windows share', () => {
  const windows = new CurrentWindows('UTC', AT)
  const day = windows.get('day', 1)
  expect(day).toEqual({ start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22') })
  expect(windows.get('day', 2)).toBe(day)
  expect(windows.getCalendar('hour').start).toBe(AT - 30 * 60_000)
  expect([windows.from, windows.until]).toEqual([AT - 30 * 60_000, AT + 30 * 60_000])
})
