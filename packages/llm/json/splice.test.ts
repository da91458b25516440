import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scanJson } from './json-scan.ts'
import type { Json, JsonObject } from './json-value.ts'
import { parseByText } from './parse-text.ts'
import { spliceObject } from './splice.ts'
import { type SentBody, UnwrittenJson } from './unwritten-json.ts'

function splice(text: string, changes: Record<string, Json | undefined>): string {
  const bytes = Buffer.from(text)
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error(scan.reason)
  return written(spliceObject({ bytes, fields: scan.fields }, new Map(Object.entries(changes)))).toString()
}

const written = (body: SentBody): Buffer => ('pieces' in body ? Buffer.concat([...body.pieces()]) : body)

describe('spliceObject', () => {
  test.each<[string, Record<string, Json | undefined>, string]>([
    ['{"model":"a","n":1}', { model: 'é' }, '{"model":"é","n":1}'],
    ['{ "n" : 1.0, "model" : "a" }', { model: 'b' }, '{ "n" : 1.0, "model" : "b" }'],
    ['{ "a": 1, "b": 2, "c": 3 }', { a: undefined }, '{ "b": 2, "c": 3 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', { b: undefined }, '{ "a": 1, "c": 3 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', { c: undefined }, '{ "a": 1, "b": 2 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', { b: undefined, c: undefined }, '{ "a": 1 }'],
    ['{ "a": 1, "b": 2 }', { a: undefined, b: undefined }, '{  }'],
    ['{ "a": 1 }', { a: undefined, b: 2 }, '{ "b":2 }'],
    ['{}', { b: 2 }, '{"b":2}'],
    [' { } ', { b: 2, c: null }, ' { "b":2,"c":null} '],
    ['{"a":1}', { b: undefined }, '{"a":1}'],
    ['{"m\\u006fdel":"a","x":1e2}', { model: 'b' }, '{"m\\u006fdel":"b","x":1e2}'],
  ])('%s with %j is %s', (text, changes, expected) => {
    expect(splice(text, changes)).toBe(expected)
  })

  test('a long value, and long bytes that are kept, are written later', () => {
    const text = 'x'.repeat(1024 * 1024)
    const bytes = Buffer.from(`{"model":"a", "text" : "${text}"}`)
    const scan = scanJson(bytes)
    if (!scan.ok) throw new Error(scan.reason)
    const source = { bytes, fields: scan.fields }
    for (const changes of [{ model: 'b' }, { text: [text, 'é'] }, { more: text, n: 1 }]) {
      const body = spliceObject(source, new Map<string, Json>(Object.entries(changes)))
      expect(body).toBeInstanceOf(UnwrittenJson)
      const expected = { ...(parseByText(bytes.toString()) as JsonObject), ...changes }
      expect(parseByText(written(body).toString())).toEqual(expected)
    }
    expect(spliceObject(source, new Map([['text', 'short']]))).toEqual(
      Buffer.from('{"model":"a", "text" : "short"}'),
    )
  })

  test('any object, any changes: parses to the object with the changes, and kept fields keep their bytes', () => {
    const name = fc.constantFrom('a', 'b', 'c', '"', 'é', '__proto__', '1', 'd')
    const spacing = fc.constantFrom(undefined, 1, '\t')
    const entries = fc.uniqueArray(fc.tuple(name, fc.jsonValue()), { selector: ([key]) => key })
    const edits = fc.uniqueArray(fc.tuple(name, fc.option(fc.jsonValue(), { nil: undefined })), {
      selector: ([key]) => key,
    })
    fc.assert(
      fc.property(entries, edits, spacing, (before, changes, space) => {
        const bytes = Buffer.from(JSON.stringify(Object.fromEntries(before), null, space))
        const scan = scanJson(bytes)
        if (!scan.ok) throw new Error(scan.reason)
        const out = written(
          spliceObject({ bytes, fields: scan.fields }, new Map(changes as [string, Json | undefined][])),
        )
        const expected = new Map(Object.entries(parseByText(bytes.toString()) as JsonObject))
        for (const [key, value] of changes) {
          if (value === undefined) expected.delete(key)
          else expected.set(key, parseByText(JSON.stringify(value)))
        }
        expect(parseByText(out.toString())).toEqual(Object.fromEntries(expected))
        const after = scanJson(out)
        if (!after.ok) throw new Error(after.reason)
        for (const [key, span] of scan.fields) {
          if (changes.some(([changed]) => changed === key)) continue
          const kept = after.fields.get(key)
          expect(
            kept &&
              out.subarray(kept.keyStart, kept.valueEnd).equals(bytes.subarray(span.keyStart, span.valueEnd)),
          ).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
