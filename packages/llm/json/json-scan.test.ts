import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../testing/arbitrary-json.ts'
import { MAX_JSON_DEPTH } from './json-bounds.ts'
import { findCaseVariant, scanJson } from './json-scan.ts'
import type { JsonObject } from './json-value.ts'
import { parseByText } from './parse-text.ts'

/** Twice in one object, by a reader that shares nothing with the scanner: it walks the text one character at a time. */
function hasDuplicateKey(text: string): boolean {
  const frames: (Set<string> | undefined)[] = []
  let at = 0
  let last: string | undefined
  while (at < text.length) {
    const char = text[at]
    if (char === '"') {
      let end = at + 1
      while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1
      last = JSON.parse(text.slice(at, end + 1)) as string
      at = end
    } else if (char === '{') frames.push(new Set())
    else if (char === '[') frames.push(undefined)
    else if (char === '}' || char === ']') frames.pop()
    else if (char === ':') {
      const keys = frames.at(-1)
      if (keys === undefined || last === undefined) throw new Error('not JSON')
      if (keys.has(last)) return true
      keys.add(last)
    }
    at++
  }
  return false
}

describe('scanJson', () => {
  const scanText = (text: string) => scanJson(Buffer.from(text))

  test('any JSON text: same value as JSON.parse, or the duplicate key that a naive reader also finds', () => {
    fc.assert(
      fc.property(jsonText, text => {
        const scan = scanText(text)
        if (hasDuplicateKey(text)) {
          expect(scan).toMatchObject({ ok: false, reason: 'duplicate_key' })
          return
        }
        if (!scan.ok) throw new Error(scan.reason)
        expect(scan.value).toEqual(parseByText(text))
      }),
      { numRuns: 2000 },
    )
  })

  test('every span holds exactly its key and its value', () => {
    fc.assert(
      fc.property(jsonText, text => {
        const bytes = Buffer.from(text)
        const scan = scanJson(bytes)
        if (!scan.ok) return
        const isObject = scan.value !== null && typeof scan.value === 'object' && !Array.isArray(scan.value)
        if (!isObject) {
          expect(scan.fields.size).toBe(0)
          return
        }
        const value = scan.value as JsonObject
        expect([...scan.fields.keys()].sort()).toEqual(Object.keys(value).sort())
        for (const [name, span] of scan.fields) {
          expect(parseByText(bytes.toString('utf8', span.valueStart, span.valueEnd))).toEqual(value[name])
          const key = bytes.toString('utf8', span.keyStart, span.valueStart).trimEnd().slice(0, -1)
          expect(JSON.parse(key)).toBe(name)
          expect(bytes.toString('utf8', span.valueStart, span.valueEnd).trim()).toBe(
            bytes.toString('utf8', span.valueStart, span.valueEnd),
          )
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('any bytes: a verdict, never a throw, and ok only where JSON.parse agrees', () => {
    const soup = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', 'a', '1', ' ', 'é'), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array().map(bytes => Buffer.from(bytes)),
          soup.map(parts => Buffer.from(parts.join(''))),
        ),
        bytes => {
          const scan = scanJson(bytes)
          let parsed: unknown
          try {
            parsed = parseByText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
          } catch {
            expect(scan.ok).toBe(false)
            return
          }
          if (scan.ok) expect(scan.value).toEqual(parsed)
          else expect(scan.reason).toBe('duplicate_key')
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('a valid text with a byte taken out, put in or doubled: ok only where JSON.parse agrees', () => {
    const strange = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1', ' ', 'null')
    const object = fc
      .array(jsonText, { maxLength: 6 })
      .map(values => `{"a":[${values.join()}],"b":${values[0] ?? 0}}`)
    fc.assert(
      fc.property(object, fc.nat(), fc.nat(2), strange, (text, place, removed, added) => {
        const at = place % (text.length + 1)
        const mutated = Buffer.from(text.slice(0, at) + added + text.slice(at + removed))
        const scan = scanJson(mutated)
        let parsed: unknown
        try {
          parsed = parseByText(mutated.toString())
        } catch {
          expect(scan.ok).toBe(false)
          return
        }
        if (scan.ok) expect(scan.value).toEqual(parsed)
        else expect(['duplicate_key']).toContain(scan.reason)
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"model":"a","mod\\u0065l":"b"}', 'model'],
    ['{"a":{"é":1,"\\u00e9":2}}', 'é'],
    ['{"a":[{"b":1},{"c":{"d":1,"d":1}}]}', 'd'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":0`).join(',')},"k3":1}`, 'k3'],
  ])('a key twice in one object is found and named: %s', (text, key) => {
    expect(scanText(text)).toEqual({ ok: false, reason: 'duplicate_key', key })
  })

  test('one key in two objects is no duplicate', () => {
    expect(scanText('{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}').ok).toBe(true)
  })

  test(`depth ${MAX_JSON_DEPTH} passes, one more does not, and a hundred thousand brackets are no danger`, () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(scanText(nested(MAX_JSON_DEPTH)).ok).toBe(true)
    expect(scanText(nested(MAX_JSON_DEPTH + 1))).toEqual({ ok: false, reason: 'too_deep' })
    expect(scanText('{"a":'.repeat(100_000))).toEqual({ ok: false, reason: 'too_deep' })
  })

  test('brackets inside strings are no depth', () => {
    expect(scanText(JSON.stringify({ a: '[{'.repeat(1000) })).ok).toBe(true)
  })

  test.each(['é', 'ж', '日本', '👩‍👩‍👧', 'a'])('a long body of %s reads as it was written', sign => {
    const messages = Array.from({ length: 40 }, (_, at) => ({
      role: 'user',
      content: sign.repeat(at * 150),
    }))
    const body = { model: 'm', messages, [sign]: sign.repeat(3_000), __proto: null }
    const scan = scanText(JSON.stringify(body))
    if (!scan.ok) throw new Error(scan.reason)
    expect(scan.value).toEqual(body)
    expect([...scan.fields.keys()]).toEqual(Object.keys(body))
  })

  test('a byte order mark, an empty body and half a body are malformed', () => {
    for (const text of ['\ufeff{}', '', ' ', '{"a":', '{"a":"', '{"a":1}}', '{a:1}', "{'a':1}"]) {
      expect(scanText(text)).toEqual({ ok: false, reason: 'malformed' })
    }
  })

  test('bytes that are not UTF-8 are told apart', () => {
    expect(scanJson(Buffer.from([0x22, 0xff, 0x22]))).toEqual({ ok: false, reason: 'not_utf8' })
    // A surrogate half, as CESU-8 writes it.
    expect(scanJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toEqual({ ok: false, reason: 'not_utf8' })
  })

  test('__proto__ is an ordinary own field', () => {
    const scan = scanText('{"__proto__":{"polluted":true}}')
    if (!scan.ok) throw new Error(scan.reason)
    expect(Object.getPrototypeOf(scan.value)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect([...scan.fields.keys()]).toEqual(['__proto__'])
  })

  test.each<[string, boolean]>([
    ['{"__proto__":1}', true],
    ['{"\\u005f_proto__":1}', true],
    ['{"a":[{"b":{"__prot\\u006f__":1}}]}', true],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":0`).join(',')},"__proto__":1}`, true],
    [
      '{"a":"__proto__","b":["__proto__"],"__proto":1,"proto__":1,"__proto___":1,"\\\\u005f_proto__":1}',
      false,
    ],
  ])('reports a key __proto__ at any depth, also with escapes: %s', (text, expected) => {
    const scan = scanText(text)
    if (!scan.ok) throw new Error(scan.reason)
    expect(scan.hasPrototypeKey).toBe(expected)
  })
})

describe('findCaseVariant', () => {
  const find = (text: string) => {
    const scan = scanJson(Buffer.from(text))
    if (!scan.ok) throw new Error(scan.reason)
    return findCaseVariant(scan.fields, new Set(['model', 'max_tokens']))
  }

  test('names the key that differs from a guarded name by case only', () => {
    expect(find('{"Model":"b","model":"a"}')).toBe('Model')
    expect(find('{"MAX_TOKENS":1}')).toBe('MAX_TOKENS')
  })

  test('passes the names themselves and others', () => {
    expect(find('{"model":"a","max_tokens":1,"modelx":1}')).toBeUndefined()
  })
})
