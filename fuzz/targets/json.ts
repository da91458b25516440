import { isUtf8 } from 'node:buffer'
import { type JsonBounds, MAX_JSON_DEPTH, MAX_NUMBER_BYTES, UNBOUNDED } from '@rideau/llm/json/json-bounds'
import { findFields, type JsonScan, SlicedJsonScan, scanShortJson } from '@rideau/llm/json/json-scan'
import type { Json } from '@rideau/llm/json/json-value'
import { PartCounter } from '@rideau/llm/json/part-counter'
import { spliceObject } from '@rideau/llm/json/splice'
import { Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

export const seeds = [
  '\x00\x03\x05{"model":"a","messages":[{"role":"user","content":"h\\u00e9llo \\"x\\""}],"n":1.5e-3,"b":[true,null,{}]}',
  '\x01\x01\x01{"a":{"a":1,"\\u0061":2}}',
  '\x00\x02\x07[[[]],{"__proto__":{}},"\\ud800","\\\\",-0,1E400]',
  '\x02\x10\x01"long string of several pieces \\n \u00e9\u{1f99c}"',
  '\x00\x00\x00 { "x" : [ 1 , 2 ] , "y" : "" }\r\n',
].map(text => Buffer.from(text))

const SMALL: JsonBounds = { maxValues: 12, maxParts: 10, maxFields: 4, maxNameBytes: 6 }

/** The value of JSON.parse, or undefined with what this parser refuses beside what JSON.parse does. */
function parseByReference(bytes: Buffer): { readonly value: Json } | undefined {
  if (!isUtf8(bytes)) return undefined
  const parsed = attempt(
    () => JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)) as Json,
  )
  return parsed.error === undefined ? { value: parsed.value } : undefined
}

/** What is refused on purpose, found without the parser under test. `text` is valid JSON. */
function findRefusals(text: string): Set<string> {
  const refusals = new Set<string>()
  const open: (Set<string> | undefined)[] = []
  let expectsName = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined)
      if (open.length > MAX_JSON_DEPTH) refusals.add('too_deep')
      expectsName = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
      expectsName = false
    } else if (token === ',') expectsName = open.at(-1) !== undefined
    else if (token === ':') expectsName = false
    else if (expectsName) {
      const name = JSON.parse(token) as string
      if (open.at(-1)?.has(name) === true) refusals.add('duplicate_key')
      if (name === '__proto__') refusals.add('prototype')
      open.at(-1)?.add(name)
      expectsName = false
    } else if (token[0] !== '"' && token.length > MAX_NUMBER_BYTES) refusals.add('long_number')
  }
  return refusals
}

function scanInSlices(bytes: Buffer, bounds: JsonBounds, tokenBytes: number, stringBytes: number): JsonScan {
  const scan = new SlicedJsonScan(bytes, bounds, { tokenBytes, stringBytes })
  let steps = 0
  while (!scan.step()) {
    steps++
    assert(steps <= 2 * bytes.length + 3, 'each step of the sliced scan reads a byte in one of its two walks')
  }
  const result = scan.result as JsonScan
  // A name is never read in pieces: one that fills a piece is refused. The product's pieces are longer than its names may be.
  const isNamePiece = !result.ok && result.reason === 'long_name' && stringBytes <= bytes.length
  return isNamePiece ? scanInSlices(bytes, bounds, tokenBytes, stringBytes * 2) : result
}

function checkSpans(bytes: Buffer, scan: JsonScan & { ok: true }): void {
  const { value, fields } = scan
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    assert(fields.size === 0, 'only an object has fields')
    return
  }
  assertEqual(new Set(fields.keys()), new Set(Object.keys(value)), 'each field has a span')
  for (const [name, { keyStart, valueStart, valueEnd }] of fields) {
    const key = bytes.toString('utf8', keyStart, bytes.indexOf(':', keyStart))
    if (!name.includes(':')) assertEqual(JSON.parse(key), name, 'a span begins at its key')
    assertEqual(
      JSON.parse(bytes.toString('utf8', valueStart, valueEnd)),
      value[name],
      'a span holds its value',
    )
  }
  const changed = [...fields.keys()]
  const changes = new Map<string, Json | undefined>([['added', { deep: [1] }]])
  if (changed[0] !== undefined) changes.set(changed[0], undefined)
  if (changed[2] !== undefined) changes.set(changed[2], 'replaced')
  const expected = new Map<string, Json | undefined>(Object.entries(value))
  for (const [name, change] of changes) {
    if (change === undefined) expected.delete(name)
    else expected.set(name, change)
  }
  const spliced = JSON.parse(spliceObject({ bytes, fields }, changes).toString('utf8')) as object
  assertEqual(new Map(Object.entries(spliced)), expected, 'a splice changes the named fields and no other')
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mode = input.byte()
  const tokenBytes = 1 + (input.byte() % 64)
  const stringBytes = 9 + (input.byte() % 64)
  const isRepeated = mode % 16 === 15
  const bytes = isRepeated ? repeat(input.rest(), 2000) : input.rest()
  const bounds = mode % 3 === 1 ? SMALL : UNBOUNDED
  const scan = scanShortJson(bytes, bounds, Number.MAX_SAFE_INTEGER)
  if (isRepeated) assertLinear(bytes, 90, 4000, () => scanShortJson(bytes, bounds, Number.MAX_SAFE_INTEGER))
  if (scan === undefined) throw new Error('A scan without a bound on its parts has a result.')
  const sliced = scanInSlices(bytes, bounds, tokenBytes, stringBytes)
  assertEqual(sliced.ok, scan.ok, 'the same verdict in slices and at once')
  const reference = parseByReference(bytes)
  if (!scan.ok) {
    const refused = reference === undefined ? new Set<string>() : findRefusals(bytes.toString('utf8'))
    if (reference !== undefined && bounds === UNBOUNDED)
      assert(refused.has(scan.reason), `JSON is refused only for a stated reason, not as ${scan.reason}`)
    if (scan.reason === 'not_utf8') assert(!isUtf8(bytes), 'UTF-8 is not refused as something else')
    return
  }
  assert(reference !== undefined, 'what JSON.parse refuses is refused')
  assert(sliced.ok, 'the same verdict in slices and at once')
  assertEqual(scan.value, reference.value, 'the value of JSON.parse')
  assertEqual(sliced.value, reference.value, 'the value of JSON.parse, built in slices')
  assertEqual(
    JSON.stringify(sliced.value),
    JSON.stringify(reference.value),
    'keys in the order of JSON.parse',
  )
  assertEqual(sliced.fields, scan.fields, 'the same spans in slices and at once')
  const text = bytes.toString('utf8')
  const refusals = findRefusals(text)
  assertEqual(
    [...refusals].filter(each => each !== 'prototype'),
    [],
    'what is refused on purpose is refused',
  )
  assertEqual(
    scan.hasPrototypeKey,
    refusals.has('prototype'),
    'a key __proto__ is found, however it is spelled',
  )
  assertEqual(sliced.hasPrototypeKey, scan.hasPrototypeKey, 'a key __proto__ is found in slices')
  assertEqual(findFields(bytes), scan.fields, 'findFields and the scan agree')
  checkSpans(bytes, scan)
  const counter = new PartCounter()
  for (let at = 0; at < text.length; at += tokenBytes)
    counter.add(text, at, Math.min(text.length, at + tokenBytes))
  const whole = new PartCounter()
  whole.add(text, 0, text.length)
  assertEqual(counter.count, whole.count, 'parts are counted alike in pieces and at once')
}
