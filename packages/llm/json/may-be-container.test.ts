import { expect, test } from 'vitest'
import { readThreadMs } from '../testing/read-thread-ms.ts'
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
  const startedAt = readThreadMs()
  expect(mayBeContainer(text)).toBe(true)
  expect(readThreadMs() - startedAt).toBeLessThan(20)
})
