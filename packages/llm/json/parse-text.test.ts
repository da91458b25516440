import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../testing/arbitrary-json.ts'
import { collectGarbage } from '../testing/collect-garbage.ts'
import { JsonTexts } from '../upstream/json-texts.ts'
import { findReserved } from '../upstream/reserved-names.ts'
import { UNBOUNDED } from './json-bounds.ts'
import { SlicedJsonScan, scanJson } from './json-scan.ts'
import { hasEscapedName, parseByText, parseText, parseUnreadText } from './parse-text.ts'

/** Names that mean `name`, as a caller may write them: an escape anywhere. */
function spellings(name: string): string[] {
  return [...name].map((char, at) => {
    const escape = `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
    return name.slice(0, at) + escape + name.slice(at + 1)
  })
}

/** Parses objects whose second field has the name that V8 13 (Node 24) then reads in place of the written one. Other versions are not affected. */
function train(first: string, name: string, written: string): void {
  const wrong = written.slice(0, name.length)
  for (let again = 0; again < 8; again++)
    JSON.parse(`{${JSON.stringify(first)}:0,${JSON.stringify(wrong)}:0}`)
}

const NAMES = ['n', 'model', 'tools', 'service_tier', 'web_search_options']

describe('a name that is written with an escape', () => {
  test.each(NAMES.flatMap(name => spellings(name).map(written => [name, written] as const)))(
    '%s as %s is that name, whatever was parsed before',
    (name, written) => {
      const first = `first ${written}`
      train(first, name, written)
      const text = `{${JSON.stringify(first)}:0,"${written}":1}`
      const keys = [first, name]
      expect(Object.keys(parseText(text, true) as object)).toEqual(keys)
      for (const space of ['', ' ', ' '.repeat(100)]) {
        const spaced = text.replace(`"${written}"`, `"${written}"${space}`)
        expect(Object.keys(parseUnreadText(spaced) as object)).toEqual(keys)
      }
      const scan = scanJson(Buffer.from(text))
      expect(scan.ok && Object.keys(scan.value as object)).toEqual(keys)
      const sliced = new SlicedJsonScan(Buffer.from(`[${text},1]`), UNBOUNDED, {
        tokenBytes: 5,
        stringBytes: 400,
      })
      while (!sliced.step());
      expect(
        sliced.result?.ok === true && Object.keys((sliced.result.value as object[])[0] as object),
      ).toEqual(keys)
      const inner = new JsonTexts().read(text)
      expect(Object.keys(inner as object)).toEqual(keys)
    },
  )

  test('a reserved name in a text is found', () => {
    const written = '\\u006dodel'
    train('x', 'model', written)
    expect(findReserved({ a: `{"x":0,"${written}":"b"}` })).toBe('a.model')
  })
})

test('hasEscapedName finds the names with an escape of any text, and no other string', () => {
  const written = fc
    .array(fc.constantFrom('a', ':', ' ', '{', '\\\\', '\\"', '\\n', '\\u0061'), { maxLength: 5 })
    .map(parts => `"${parts.join('')}"`)
  const field = fc.tuple(written, fc.constantFrom('', ' ', '\n\t'), written).map(([name, space, value]) => {
    return `${name}${space}:${space}${value}`
  })
  fc.assert(
    fc.property(fc.array(fc.oneof(written, fc.array(field, { maxLength: 3 })), { maxLength: 4 }), values => {
      const text = `[${values.map(value => (typeof value === 'string' ? value : `{${value.join(',')}}`)).join(',')}]`
      JSON.parse(text)
      const names = [...text.matchAll(/"((?:[^"\\]|\\.)*)"\s*(:)?/g)].filter(
        ([, , colon]) => colon !== undefined,
      )
      expect(hasEscapedName(text)).toBe(names.some(([, name = '']) => name.includes('\\')))
    }),
    { numRuns: 5_000 },
  )
})

test('parseByText gives what JSON.parse gives for the same text without escapes in names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      // Also -0, which JSON writes as 0.
      expect(JSON.stringify(parseByText(text))).toBe(JSON.stringify(value))
    }),
    { numRuns: 2_000 },
  )
})

test('parseByText accepts what JSON.parse accepts, and keeps the order of names', () => {
  fc.assert(
    fc.property(jsonText, text => {
      expect(JSON.stringify(parseByText(text))).toBe(JSON.stringify(parseText(text, true)))
    }),
    { numRuns: 2_000 },
  )
  for (const text of ['', '{', '{"a":}', '[1,]', '"a', '{"a" 1}', 'nul']) {
    expect(() => parseByText(text)).toThrow(SyntaxError)
  }
  expect(Object.keys(parseByText('{"__proto__":{"a":1},"b":2}') as object)).toEqual(['__proto__', 'b'])
})

test('a text that is nested too deeply to be read is too much, and not a text without JSON', () => {
  const nest = (levels: number): string => `${'['.repeat(levels)}{"\\u0061":1}${']'.repeat(levels)}`
  expect(() => parseByText(nest(200_000))).toThrow(RangeError)
  // Nearly as many parts as a text may have.
  expect(typeof new JsonTexts().read(nest(16_300))).not.toBe('string')
})

test('a value that is kept does not keep the text that it was read from', () => {
  const TEXTS = 200
  const TEXT_CHARS = 200_000
  const kept: unknown[] = []
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < TEXTS; at++) {
    const text = Buffer.from(`{"end_user":"the end user ${at}","messages":"${'x'.repeat(TEXT_CHARS)}"}`)
    kept.push((parseByText(text.toString('latin1')) as Record<string, unknown>).end_user)
  }
  collectGarbage()
  const grown = process.memoryUsage().heapUsed - before
  expect(kept).toHaveLength(TEXTS)
  // All texts together have 40 MB.
  expect(grown).toBeLessThan((TEXTS * TEXT_CHARS) / 4)
})
