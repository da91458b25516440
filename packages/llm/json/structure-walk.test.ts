import { describe, expect, test } from 'vitest'
import { UNBOUNDED } from './json-bounds.ts'
import { StructureWalk } from './structure-walk.ts'

/** How many bytes a walk over the text looks at, by itself and by the machine's own searches. */
function countReads(text: string): number {
  let reads = 0
  const count = (bytes: Buffer): Buffer =>
    new Proxy(bytes, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) {
          reads++
          return target[Number(name)]
        }
        if (name === 'subarray') return (start: number, end: number) => count(target.subarray(start, end))
        if (name === 'indexOf') {
          return (byte: number, from = 0) => {
            const found = target.indexOf(byte, from)
            reads += (found === -1 ? target.length : found + 1) - from
            return found
          }
        }
        if (name === 'toString') {
          return (encoding: BufferEncoding, start: number, end: number) => {
            reads += end - start
            return target.toString(encoding, start, end)
          }
        }
        return Reflect.get(target, name, target)
      },
    })
  const walk = new StructureWalk(count(Buffer.from(text)), UNBOUNDED)
  walk.advance(Buffer.byteLength(text))
  return reads
}

const SIZE = 20_000
const fill = (unit: string): string => unit.repeat(SIZE / unit.length)
/** A key that has the same length and the same first 58 bytes as every other, so that each comparison runs to its end. */
const alike = (at: number): string => `${'k'.repeat(58)}${String(at).padStart(6, '0')}`

describe('StructureWalk', () => {
  test.each([
    ['empty objects', `[${fill('{},')}{}]`],
    ['empty objects without a list', fill('{},')],
    ['lists in lists', `[${fill(`${'['.repeat(60)}${']'.repeat(60)},`)}1]`],
    ['open brackets', fill('[')],
    ['a long name and colons', `{"${'k'.repeat(SIZE)}"${':'.repeat(SIZE)}1}`],
    ['a name and colons', `{"a"${':'.repeat(SIZE)}1}`],
    ['commas', `[${','.repeat(SIZE)}]`],
    ['a name of escapes', `{"${fill('\\\\')}":1}`],
    ['escaped quotes', `["${fill('\\"')}"]`],
    ['backslashes and quotes', fill('\\\\\\"')],
    ['backslashes', `["${fill('\\')}`],
    ['quotes', fill('"')],
    ['white space', `{"a"${fill(' ')}:${fill('\n')}1${fill('\t')}}`],
    ['white space between fields', `{${fill('"a":1 , ')}"b":1}`],
    ['digits', fill('1')],
    ['letters', fill('a')],
    [
      'long names that differ in the end',
      `{${Array.from({ length: 15 }, (_, at) => `"${'k'.repeat(1_300)}${at}":0`).join()}}`,
    ],
    [
      'names that differ in the end',
      `[${Array(20)
        .fill(`{${Array.from({ length: 15 }, (_, at) => `"${alike(at)}":0`).join()}}`)
        .join()}]`,
    ],
    ['names in one object', `{${Array.from({ length: 2_000 }, (_, at) => `"k${at}":0`).join()}}`],
    ['escaped names, one an object', `[${fill('{"\\u0061":0},')}1]`],
  ])('looks at each byte a few times only: %s', (_, text) => {
    expect(countReads(text) / text.length).toBeLessThan(16)
  })
})

test('an object has at most 65,536 names, which are listed in one go, and other objects more', () => {
  const object = (count: number): string =>
    `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join()}}`
  const walk = (text: string): StructureWalk => {
    const walk = new StructureWalk(Buffer.from(text), UNBOUNDED)
    walk.advance(text.length)
    return walk
  }
  expect(walk(`[${object(65_536)},${object(10)}]`).problem).toBeUndefined()
  expect(walk(`[${object(65_537)}]`).problem).toBe('too_many_values')
})
