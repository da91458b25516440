import { expect, test } from 'vitest'
import { isReservedEndUserId } from './end-users.ts'

test.each([
  'member:1',
  'device:0a1b',
  'MEMBER:1',
  'Member:1',
  ' member:1',
  'm ember:1',
  'ｍember:1',
  'member：1',
  '\u200bmember:1',
  'mem\u00adber:1',
  `${'\u200b'.repeat(246)}member:1`,
  `${' '.repeat(246)}device:1`,
  'member\ufe0f:1',
  '\u3164member:1',
  '\u034fmember:1',
  '\u{e0100}member:1',
])('%j looks like an id that only the app assigns', id => {
  expect(isReservedEndUserId(id)).toBe(true)
})

test.each([
  'ann',
  'Ann',
  'member',
  'members:1',
  'team-member:1',
  'x member:1',
  'メンバー:1',
  'user|member:1',
])('%j does not look like one', id => {
  expect(isReservedEndUserId(id)).toBe(false)
})
