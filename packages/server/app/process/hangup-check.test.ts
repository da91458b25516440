import { expect, test } from 'vitest'
import { openHangupCheck } from './hangup-check.ts'

test.each([
  ['of a process without a terminal is sent by somebody', [false, false], true],
  ['of a process whose terminal is there is sent by somebody', [true, true], true],
  ['of a process whose terminal has gone is sent by the system', [true, false], false],
])('a SIGHUP %s', (_, canOpen, expected) => {
  expect(openHangupCheck(() => canOpen.shift() === true)()).toBe(expected)
})
