import type { FieldSpan } from './field-span.ts'
import {
  type JsonBounds,
  type JsonProblem,
  MAX_JSON_DEPTH,
  MAX_NAMES,
  MAX_NUMBER_BYTES,
} from './json-bounds.ts'
import { OpenKeys } from './open-keys.ts'
import { indexOfStringEnd, indexOfWholeCharacter } from './string-bytes.ts'
import type { ValueBuilder, WalkPosition } from './value-builder.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What may come next. Up to FIRST_ITEM a value may, up to NAME a string. */
const VALUE = 0
const FIRST_ITEM = 1
const FIRST_NAME = 2
const NAME = 3
const BEFORE_COLON = 4
const AFTER_VALUE = 5

const IS_ARRAY = -1
const NOWHERE = -1

/** Bytes that belong to a number or a literal: neither white space nor any that JSON gives a meaning of its own. */
const IN_SCALAR = new Uint8Array(256).fill(1)
for (const char of ' \n\r\t",:[]{}') IN_SCALAR[char.charCodeAt(0)] = 0

/**
 * One pass over the bytes of a JSON text, which can stop after any token and go on later. It checks what stands between
 * strings, numbers and literals, and leaves what is inside of them to JSON.parse. It visits each byte once, whatever the
 * bytes are: a text that is not JSON ends the pass where it stops being JSON.
 */
export class StructureWalk implements WalkPosition {
  readonly fields = new Map<string, FieldSpan>()
  /** Set once; the pass is over then. */
  problem: JsonProblem | undefined
  /** The name that was given twice, or that is too long. */
  problemName: string | undefined
  /** An object at any depth has a key `__proto__`, also with escapes. */
  hasPrototypeKey = false
  values = 0
  parts = 0
  at = 0
  depth = 0
  rootStart = 0
  valueEnd = 0
  readonly frames: number[] = [IS_ARRAY]
  readonly keys: OpenKeys
  private readonly bytes: Buffer
  private readonly bounds: JsonBounds
  private readonly builder: ValueBuilder | undefined
  private readonly stringSliceBytes: number
  private expect = VALUE
  /** The quote that opened the string in which the walk stopped. */
  private stringStart = NOWHERE
  /** How far `advance` goes; 0 ends it. */
  private stopAt = 0
  private fieldName: string | undefined
  private fieldStart = 0
  private valueStart = 0

  /** `stringSliceBytes`: in a longer string `advance` stops, to go on later. */
  constructor(bytes: Buffer, bounds: JsonBounds, stringSliceBytes = bytes.length, builder?: ValueBuilder) {
    this.bytes = bytes
    this.bounds = bounds
    this.stringSliceBytes = stringSliceBytes
    this.builder = builder
    this.keys = new OpenKeys(bytes)
  }

  /** True if the walk stopped inside a string. */
  get isInString(): boolean {
    return this.stringStart !== NOWHERE
  }

  /** Goes on to about `until`: to the end of the token there, or to some way into a long string. */
  advance(until: number): void {
    const { bytes } = this
    this.stopAt = Math.min(until, bytes.length)
    let at = this.stringStart === NOWHERE ? this.at : this.goOnInString()
    while (at < this.stopAt) {
      const code = bytes[at] as number
      if (code === QUOTE) {
        at = this.walkString(at)
      } else if (code <= SPACE && IN_SCALAR[code] === 0) {
        at++
      } else if (code === COLON) {
        if (this.expect !== BEFORE_COLON) this.fail('malformed')
        this.expect = VALUE
        at++
      } else if (code === COMMA) {
        this.endMember(at++)
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        this.open(code, at++)
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        this.close(code, at++)
      } else {
        at = this.walkScalar(at)
      }
    }
    this.at = at
    if (this.values > this.bounds.maxValues || this.parts > this.bounds.maxParts) this.fail('too_many_values')
    if (at >= bytes.length && (this.depth > 0 || this.expect !== AFTER_VALUE)) this.fail('malformed')
  }

  private fail(problem: JsonProblem, name?: string): void {
    this.problem ??= problem
    this.problemName ??= name
    this.stopAt = 0
  }

  /** The string whose quote is at `start`; where to go on. */
  private walkString(start: number): number {
    const { bytes } = this
    const from = start + 1
    // A walk that builds follows one that has bounded the names, and reads each in one go.
    const isWhole = this.builder !== undefined && this.expect > FIRST_ITEM
    const limit = isWhole ? bytes.length : from + this.stringSliceBytes
    const end = indexOfStringEnd(bytes, from, limit)
    if (end === NOWHERE) this.fail('malformed')
    else if (end >= limit) return this.stopInString(start, from, limit)
    else if (this.expect <= FIRST_ITEM) this.addString(start, end)
    else if (this.expect <= NAME) this.addName(start, end)
    else this.fail('malformed')
    return end + 1
  }

  /** Hands what was read of a long string to the builder, and stops the walk. Gives where to go on. */
  private stopInString(start: number, from: number, limit: number): number {
    if (this.expect > FIRST_ITEM) {
      this.fail(this.expect <= NAME ? 'long_name' : 'malformed')
      return limit
    }
    const whole = indexOfWholeCharacter(this.bytes, from, limit)
    // An escape that is cut short by another character, in a slice of a few bytes: the walk would stop here again and again.
    if (whole === from) {
      this.fail('malformed')
      return limit
    }
    this.builder?.addStringPiece(from, whole)
    this.stringStart = start
    this.stopAt = 0
    return whole
  }

  private goOnInString(): number {
    const { bytes, builder, at: from, stringStart: start } = this
    const limit = from + this.stringSliceBytes
    const end = indexOfStringEnd(bytes, from, limit)
    if (end >= limit) return this.stopInString(start, from, limit)
    this.stringStart = NOWHERE
    if (end === NOWHERE) {
      this.fail('malformed')
      return bytes.length
    }
    this.addString(start, end)
    builder?.endLongString(this, from, end)
    return end + 1
  }

  private addString(start: number, end: number): void {
    this.beginValue(start)
    this.parts++
    this.endValue(end + 1)
  }

  private addName(start: number, end: number): void {
    const { keys, bounds, depth } = this
    this.parts++
    this.expect = BEFORE_COLON
    if (end - start - 1 > bounds.maxNameBytes) return this.fail('long_name')
    const isTwice = keys.add(depth, this.frames[depth] as number, start + 1, end)
    if (keys.isPrototypeKey(start + 1, end)) this.hasPrototypeKey = true
    if (isTwice) return this.fail('duplicate_key', keys.decode(start + 1, end))
    if (keys.count - (this.frames[depth] as number) > MAX_NAMES) return this.fail('too_many_values')
    if (depth > 1) return
    this.fieldName = keys.decode(start + 1, end)
    this.fieldStart = start
  }

  private beginValue(at: number): void {
    if (this.expect > FIRST_ITEM) this.fail('malformed')
    this.values++
    if (this.depth === 1) this.valueStart = at
    else if (this.depth === 0) this.rootStart = at
  }

  private endValue(end: number): void {
    this.valueEnd = end
    this.expect = AFTER_VALUE
  }

  /** Where the number or the literal at `start` ends. */
  private walkScalar(start: number): number {
    const { bytes } = this
    const limit = Math.min(bytes.length, start + MAX_NUMBER_BYTES + 1)
    let end = start + 1
    while (end < limit && IN_SCALAR[bytes[end] as number] === 1) end++
    this.beginValue(start)
    this.endValue(end)
    if (end - start > MAX_NUMBER_BYTES) this.fail('long_number')
    return end
  }

  private open(code: number, at: number): void {
    this.beginValue(at)
    this.parts++
    if (this.depth === MAX_JSON_DEPTH) return this.fail('too_deep')
    const depth = ++this.depth
    this.frames[depth] = code === OPEN_OBJECT ? this.keys.count : IS_ARRAY
    this.expect = code === OPEN_OBJECT ? FIRST_NAME : FIRST_ITEM
    if (this.builder !== undefined) this.builder.open(depth, at + 1)
  }

  private close(code: number, at: number): void {
    const { depth, expect } = this
    const frame = this.frames[depth] as number
    const isObject = code === CLOSE_OBJECT
    const isEmpty = expect === (isObject ? FIRST_NAME : FIRST_ITEM)
    if (depth === 0 || isObject === (frame === IS_ARRAY) || !(isEmpty || expect === AFTER_VALUE)) {
      return this.fail('malformed')
    }
    if (depth === 1) this.closeField()
    if (this.builder !== undefined) this.builder.close(this, at)
    if (isObject) this.keys.close(depth, frame)
    this.depth = depth - 1
    this.endValue(at + 1)
  }

  private endMember(comma: number): void {
    const { depth } = this
    if (this.expect !== AFTER_VALUE || depth === 0) return this.fail('malformed')
    if (depth === 1) this.closeField()
    this.expect = this.frames[depth] === IS_ARRAY ? VALUE : NAME
    if (this.builder !== undefined) this.builder.startMember(depth, comma + 1)
  }

  private closeField(): void {
    if (this.fieldName === undefined) return
    const { fieldStart: keyStart, valueStart, valueEnd } = this
    this.fields.set(this.fieldName, { keyStart, valueStart, valueEnd })
    this.fieldName = undefined
    if (this.fields.size > this.bounds.maxFields) this.fail('too_many_fields')
  }
}
