import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../testing/arbitrary-json.ts'
import { type JsonBounds, MAX_NUMBER_BYTES, UNBOUNDED } from './json-bounds.ts'
import { type JsonScan, SlicedJsonScan, SlicedPrefixScan, scanJson, scanShortJson } from './json-scan.ts'
import { parseByText } from './parse-text.ts'

const BOUNDS: JsonBounds = { maxValues: 1_000, maxParts: 300, maxFields: 20, maxNameBytes: 100 }

function scanInSlices(
  text: string | Buffer,
  bounds = UNBOUNDED,
  slices = { tokenBytes: 7, stringBytes: 16 },
): { result: JsonScan; steps: number } {
  const scan = new SlicedJsonScan(Buffer.from(text), bounds, slices)
  let steps = 1
  while (!scan.step()) steps++
  return { result: scan.result as JsonScan, steps }
}

const slices = fc.record({
  tokenBytes: fc.integer({ min: 1, max: 30 }),
  stringBytes: fc.integer({ min: 8, max: 40 }),
})

describe('SlicedJsonScan', () => {
  test('any JSON text in slices of any size: the verdict, the value, the order of keys and the spans of scanJson', () => {
    fc.assert(
      fc.property(jsonText, slices, (text, sizes) => {
        // A name is never read in pieces: a slice of this size may refuse one that is long.
        const { result } = scanInSlices(text, UNBOUNDED, sizes)
        const whole = scanJson(Buffer.from(text))
        if (!result.ok && result.reason === 'long_name') return
        expect(result).toEqual(whole)
        if (result.ok && whole.ok) expect(JSON.stringify(result.value)).toBe(JSON.stringify(whole.value))
      }),
      { numRuns: 5_000 },
    )
  })

  test('any JSON text that is parsed in one go, in pieces of any size: the same result', () => {
    fc.assert(
      fc.property(jsonText, fc.integer({ min: 8, max: 40 }), (text, pieceBytes) => {
        const bytes = Buffer.from(text)
        const whole = scanShortJson(bytes, UNBOUNDED, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY)
        expect(scanShortJson(bytes, UNBOUNDED, Number.MAX_SAFE_INTEGER, pieceBytes)).toEqual(whole)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a text with a byte taken out, put in or doubled: ok only where JSON.parse agrees, with its value', () => {
    const strange = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '1',
      ' ',
      'null',
      '\u0001',
      '\\u00',
    )
    fc.assert(
      fc.property(jsonText, fc.nat(), fc.nat(2), strange, slices, (text, place, removed, added, sizes) => {
        const at = place % (text.length + 1)
        const mutated = text.slice(0, at) + added + text.slice(at + removed)
        const { result } = scanInSlices(mutated, UNBOUNDED, sizes)
        let parsed: unknown
        try {
          parsed = parseByText(Buffer.from(mutated).toString())
        } catch {
          expect(result.ok).toBe(false)
          return
        }
        if (result.ok) expect(result.value).toEqual(parsed)
        else expect(['malformed', 'not_utf8']).not.toContain(result.reason)
      }),
      { numRuns: 5_000 },
    )
  })

  test('any bytes: the verdict of scanJson', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), slices, (array, sizes) => {
        const bytes = Buffer.from(array)
        expect(scanInSlices(bytes, UNBOUNDED, sizes).result).toEqual(scanJson(bytes))
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    'a',
    '\\n',
    '\\\\',
    '\\"',
    '\\u00e9',
    '\\ud83d\\ude00',
    'é',
    '日',
    '😀',
    'ab\\u00e9日😀\\\\\\"',
  ])('a string of many %s is cut nowhere within a character or an escape', unit => {
    for (let size = 8; size < 24; size++) {
      for (const text of [`"${unit.repeat(40)}"`, `{"a":["x${unit.repeat(40)}",1],"b":2}`]) {
        const { result } = scanInSlices(text, UNBOUNDED, { tokenBytes: 4, stringBytes: size })
        expect(result).toMatchObject({ ok: true, value: parseByText(text) })
      }
    }
  })

  test('an escape that is cut short by another character is not JSON, and ends the scan', () => {
    for (let offset = 0; offset < 16; offset++) {
      const bytes = Buffer.from(`["${'x'.repeat(offset)}\\u000😀${'x'.repeat(20)}"]`)
      const scan = new SlicedJsonScan(bytes, UNBOUNDED, { tokenBytes: 1, stringBytes: 8 })
      let steps = 1
      while (!scan.step() && steps < 1_000) steps++
      expect(scan.result).toEqual({ ok: false, reason: 'malformed' })
    }
  })

  test.each([0x00, 0x09, 0x1f, 0x5c])('a long string with the byte %i anywhere is not JSON', byte => {
    for (let offset = 0; offset < 5; offset++) {
      for (let at = 0; at < 60; at++) {
        const bytes = Buffer.from(`${' '.repeat(offset)}"${'a'.repeat(60)}"`)
        bytes[offset + 1 + at] = byte
        // A backslash before `a` is no escape.
        expect(scanInSlices(bytes).result).toEqual({ ok: false, reason: 'malformed' })
      }
    }
  })

  test('the name of what is built in pieces is checked as well', () => {
    const long = '"'.concat('x'.repeat(100), '"')
    expect(scanInSlices(`{"a\u0001":${long}}`).result).toEqual({ ok: false, reason: 'malformed' })
    expect(scanInSlices(`{"a\\x":[1,2,3,4,5,6,7,8,9]}`).result).toEqual({ ok: false, reason: 'malformed' })
  })

  test('white space of any length anywhere costs nothing but itself', () => {
    const space = ' \n\t\r'.repeat(100)
    const text = `${space}{${space}"a"${space}:${space}[${space}1${space},${space}2${space}]${space},"b":3${space}}${space}`
    expect(scanInSlices(text).result).toMatchObject({ ok: true, value: { a: [1, 2], b: 3 } })
  })
})

describe.each([
  ['at once', (text: string) => scanShortJson(Buffer.from(text), BOUNDS, Number.MAX_SAFE_INTEGER)],
  ['in slices', (text: string) => scanInSlices(text, BOUNDS, { tokenBytes: 50, stringBytes: 200 }).result],
])('bounds, %s', (_, scan) => {
  const list = (unit: string, count: number) => `[${Array(count).fill(unit).join()}]`

  test.each([
    ['numbers', list('1', 1_000)],
    ['literals', list('true', 1_000)],
    ['strings', list('""', 300)],
    ['objects', list('{}', 300)],
    ['lists', list('[]', 300)],
    ['names with their objects', list('{"a":1}', 150)],
  ])('one more %s than there may be is too_many_values', (_what, text) => {
    expect(scan(text)).toEqual({ ok: false, reason: 'too_many_values' })
    // The list itself counts, so one less than the bound fits.
    const fits = text.slice(0, text.lastIndexOf(',')).concat(']')
    expect(scan(fits)).toMatchObject({ ok: true, value: JSON.parse(fits) })
  })

  test('one field more than the outermost object may have is too_many_fields, and objects within may have more', () => {
    const fields = (count: number) => `{${Array.from({ length: count }, (_v, at) => `"k${at}":0`).join()}}`
    expect(scan(fields(20))).toMatchObject({ ok: true })
    expect(scan(fields(21))).toEqual({ ok: false, reason: 'too_many_fields' })
    expect(scan(`{"a":${fields(21)}}`)).toMatchObject({ ok: true })
  })

  test('a name longer than it may be is long_name, wherever it stands', () => {
    for (const around of [(object: string) => object, (object: string) => `[[${object}]]`]) {
      expect(scan(around(`{"${'k'.repeat(100)}":1}`))).toMatchObject({ ok: true })
      expect(scan(around(`{"${'k'.repeat(101)}":1}`))).toEqual({ ok: false, reason: 'long_name' })
    }
  })

  test('a number with more digits than the bound is long_number', () => {
    expect(scan(`[${'1'.repeat(MAX_NUMBER_BYTES)}]`)).toMatchObject({ ok: true })
    expect(scan(`[${'1'.repeat(MAX_NUMBER_BYTES + 1)}]`)).toEqual({ ok: false, reason: 'long_number' })
  })
})

test('what takes too long to parse at once is left to slices', () => {
  const objects = Buffer.from(`[${'{},'.repeat(50)}{}]`)
  expect(scanShortJson(objects, UNBOUNDED, 40)).toBeUndefined()
  expect(scanShortJson(objects, UNBOUNDED, 60)).toMatchObject({ ok: true })
  const numbers = Buffer.from(`[${'1,'.repeat(2_000)}1]`)
  expect(scanShortJson(numbers, UNBOUNDED, 40)).toBeUndefined()
  expect(scanShortJson(numbers, UNBOUNDED, 400)).toMatchObject({ ok: true })
})

describe('SlicedPrefixScan', () => {
  const findProblem = (text: string | Buffer, bounds = BOUNDS): JsonScan | undefined => {
    const scan = new SlicedPrefixScan(Buffer.from(text), bounds, { tokenBytes: 7, stringBytes: 128 })
    while (!scan.step());
    return scan.problem
  }

  test('any beginning of a text within the bounds has no problem, wherever it is cut', () => {
    fc.assert(
      fc.property(jsonText, fc.double({ min: 0, max: 1, noNaN: true }), (text, part) => {
        const bytes = Buffer.from(text)
        const scan = new SlicedJsonScan(bytes, BOUNDS, { tokenBytes: 7, stringBytes: 128 })
        while (!scan.step());
        if (scan.result?.ok !== true) return
        expect(findProblem(bytes.subarray(0, Math.floor(bytes.length * part)))).toBeUndefined()
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    ['too_many_values', `[${'{},'.repeat(400)}`],
    ['too_deep', '['.repeat(100)],
    ['duplicate_key', '{"a":1,"a":2,'],
    ['long_name', `{"${'a'.repeat(200)}":1,`],
    ['malformed', '{"a":1,,"b":2}'],
    ['long_number', 'x'.repeat(10_000)],
  ])('%s is found in a beginning', (reason, text) => {
    expect(findProblem(text)).toMatchObject({ ok: false, reason })
  })
})
