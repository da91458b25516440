import { describe, expect, test } from 'vitest'
import { StopSignals } from './stop-signals.ts'

const START = 1_800_000_000_000

function meaningsOf(timesMs: readonly number[]): string[] {
  const signals = new StopSignals()
  return timesMs.map(timeMs => signals.note(START + timeMs))
}

describe('the signals of a process', () => {
  test.each([
    ['the first one stops', [0], ['stop']],
    [
      'those within a second of the first are one with it',
      [0, 0, 1, 999],
      ['stop', 'repeated', 'repeated', 'repeated'],
    ],
    ['one after a second ends by force', [0, 1_000], ['stop', 'force']],
    [
      'one long after the first ends by force, whatever came in between',
      [0, 999, 60_000],
      ['stop', 'repeated', 'force'],
    ],
    ['nothing follows a forced end', [0, 1_500, 1_501, 9_000], ['stop', 'force', 'repeated', 'repeated']],
    [
      'a clock that was set back does not keep a second one from ending it',
      [0, -3_600_000],
      ['stop', 'force'],
    ],
  ])('%s', (_, timesMs, expected) => {
    expect(meaningsOf(timesMs)).toEqual(expected)
  })
})
