import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText, TEXT_SEED } from '../../testing/harness/any-text.ts'
import { toLine } from './csv.ts'

const lineOf = (name: string): string => toLine([name, 1])

test.each([
  ['=1+1', "'=1+1,1\r\n"],
  ['-1', "'-1,1\r\n"],
  ['\uff1dcmd', "'\uff1dcmd,1\r\n"],
  ['  =1', "  '=1,1\r\n"],
  ['x;=1', "x;'=1,1\r\n"],
  ['x\t@y', "x\t'@y,1\r\n"],
  ['x,"=1"', `"x,""'=1""",1\r\n`],
  ['gpt-5.4-mini', 'gpt-5.4-mini,1\r\n'],
])('the text %j is %j in a file', (text, line) => {
  expect(lineOf(text)).toBe(line)
})

/** The shortest of several runs, in milliseconds. */
function timeOf(pairs: number, rows: number): number {
  const name = `'"`.repeat(pairs)
  const times = Array.from({ length: 7 }, () => {
    const startedAt = performance.now()
    for (let row = 0; row < rows; row++) lineOf(name)
    return performance.now() - startedAt
  })
  return Math.min(...times)
}

test('ten times longer names of quotes in a tenth of the rows take about as long', () => {
  timeOf(256, 1_000)
  expect(timeOf(2_560, 100) / timeOf(256, 1_000)).toBeLessThan(4)
})

test(`no text begins a formula, whatever separator cuts the line (seed ${TEXT_SEED})`, () => {
  const separators = ['', ',', ';', '\t', '|', '"', ' ', '=', '+', '-', '@', '\n', '\uff1d']
  const text = fc.oneof(anyText, fc.array(fc.constantFrom(...separators, 'a'), { maxLength: 12 }))
  fc.assert(
    fc.property(
      text.map(each => (Array.isArray(each) ? each.join('') : each)),
      each => {
        for (const cell of lineOf(each).split(/[,;|\t\r\n]/))
          expect(cell.replace(/^[\s"]*/, '')).not.toMatch(/^[=+\-@\uff1d]/)
      },
    ),
    { seed: TEXT_SEED, numRuns: 2_000 },
  )
})
