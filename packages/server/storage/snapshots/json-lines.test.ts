import { expect, test } from 'vitest'
import type { ShortTicks } from '../../core/short-ticks.ts'
import { readLines } from './json-lines.ts'

class CountedTicks implements Pick<ShortTicks, 'isOver' | 'next'> {
  isOver = true
  nexts = 0
  async next(): Promise<void> {
    this.nexts++
  }
}

test.each([
  ['no rows', null, []],
  ['one row', '{"a": 1}', [1]],
  [
    'several rows, with an escaped line break in one',
    '{"a": 1}\n{"a": "x\\ny"}\n{"a": null}',
    [1, 'x\ny', null],
  ],
])('reads %s, and gives way after each', async (_name, lines, expected) => {
  const ticks = new CountedTicks()
  const read = await readLines(lines, ticks as unknown as ShortTicks, ({ a }: { a: unknown }) => a)
  expect(read).toEqual(expected)
  expect(ticks.nexts).toBe(expected.length)
})
