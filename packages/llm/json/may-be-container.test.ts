import { expect, test } from 'vitest'
import { measureMs } from '../testing/measure-ms.ts'
import { mayBeContainer } from './may-be-container.ts'

test.each([
  ['{"a":1}', true],
  [' \n[1]', true],
  [`${' '.repeat(999)}[`, true],
  ['', false],
  ['a [', false],
  [`${' '.repeat(999)}a`, false],
  [`${' '.repeat(1_000)}a`, true],
])('whether a text may be an object or a list: %j', (text, isContainer) => {
  expect(mayBeContainer(text)).toBe(isContainer)
})

test('a text of many blanks is not read to its end', () => {
  const text = Buffer.alloc(32 * 1024 * 1024, ' ').toString('latin1')
  const usedMs = measureMs(() => {
    expect(mayBeContainer(text)).toBe(true)
  })
  expect(usedMs).toBeLessThan(20)
})
