import type { FieldSpan } from './field-span.ts'

/** Objects and arrays inside one another, the outermost included (contract.md §1). */
export const MAX_JSON_DEPTH = 64

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Up to so many keys an object's are compared one by one; beyond, a set keeps the cost linear. */
const FEW_KEYS = 16

/**
 * Steps from string to string. It trusts the bytes to be valid JSON, where only a key stands before a colon:
 * for anything else its findings mean nothing, and JSON.parse refuses that afterwards.
 */
export class StructureWalk {
  readonly fields = new Map<string, FieldSpan>()
  duplicate: string | undefined
  private readonly bytes: Buffer
  /** The keys of every open object, innermost last: where each lies between its quotes. */
  private readonly keyStarts: number[] = []
  private readonly keyEnds: number[] = []
  /** For every open object, how many keys the ones around it have. */
  private readonly frames: number[] = []
  /** Decoded keys of an open object that has many or an escaped one, by its frame. */
  private sets: Map<number, Set<string>> | undefined
  private open: { name: string; keyStart: number; valueStart: number } | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** false: too deep. */
  run(): boolean {
    const { bytes } = this
    let depth = 0
    let stringStart = 0
    let stringEnd = 0
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at]
      if (code === QUOTE) {
        stringStart = at
        stringEnd = findStringEnd(bytes, at + 1)
        if (stringEnd === -1) return true
        at = stringEnd
      } else if (code === COLON) {
        this.addKey(stringStart + 1, stringEnd)
        if (depth === 1) this.openField(stringStart, stringEnd, at)
      } else if (code === COMMA) {
        if (depth === 1) this.closeField(at)
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        if (++depth > MAX_JSON_DEPTH) return false
        if (code === OPEN_OBJECT) this.frames.push(this.keyStarts.length)
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (depth === 1) this.closeField(at)
        depth--
        if (code === CLOSE_OBJECT) this.closeObject()
      }
    }
    return true
  }

  private closeObject(): void {
    if (this.sets !== undefined) this.sets.delete(this.frames.length)
    const start = this.frames.pop() ?? 0
    while (this.keyStarts.length > start) {
      this.keyStarts.pop()
      this.keyEnds.pop()
    }
  }

  private addKey(start: number, end: number): void {
    const { bytes, keyStarts, keyEnds } = this
    const first = this.frames[this.frames.length - 1] ?? 0
    const few = keyStarts.length - first < FEW_KEYS
    if (!few || isEscaped(bytes, start, end) || this.sets?.has(this.frames.length)) {
      this.addKeyToSet(first, start, end)
      return
    }
    for (let at = first; at < keyStarts.length; at++) {
      const other = keyStarts[at] as number
      if ((keyEnds[at] as number) - other !== end - start) continue
      let same = 0
      while (same < end - start && bytes[other + same] === bytes[start + same]) same++
      if (same === end - start) this.duplicate ??= decodeKey(bytes, start, end)
    }
    keyStarts.push(start)
    keyEnds.push(end)
  }

  private addKeyToSet(first: number, start: number, end: number): void {
    this.sets ??= new Map()
    let set = this.sets.get(this.frames.length)
    if (set === undefined) {
      set = new Set()
      for (let at = first; at < this.keyStarts.length; at++) {
        set.add(decodeKey(this.bytes, this.keyStarts[at] as number, this.keyEnds[at] as number))
      }
      this.sets.set(this.frames.length, set)
    }
    const name = decodeKey(this.bytes, start, end)
    if (set.has(name)) this.duplicate ??= name
    set.add(name)
  }

  private openField(keyStart: number, keyEnd: number, colon: number): void {
    let valueStart = colon + 1
    while (isSpace(this.bytes[valueStart])) valueStart++
    this.open = { name: decodeKey(this.bytes, keyStart + 1, keyEnd), keyStart, valueStart }
  }

  private closeField(end: number): void {
    if (this.open === undefined) return
    const { name, keyStart, valueStart } = this.open
    this.open = undefined
    let valueEnd = end
    while (isSpace(this.bytes[valueEnd - 1])) valueEnd--
    this.fields.set(name, { keyStart, valueStart, valueEnd })
  }
}

/** So far a loop finds the end of a string sooner than a call of the machine's search would. */
const NEAR_BYTES = 48

/** Index of the quote that closes the string whose text begins at `start`, or -1. */
function findStringEnd(bytes: Buffer, start: number): number {
  let from = start
  for (;;) {
    const near = Math.min(from + NEAR_BYTES, bytes.length)
    let quote = from
    while (quote < near && bytes[quote] !== QUOTE) quote++
    if (quote === near) quote = bytes.indexOf(QUOTE, near)
    if (quote === -1) return -1
    let back = quote - 1
    while (back >= start && bytes[back] === BACKSLASH) back--
    // An even number of backslashes escapes only themselves.
    if ((quote - back) % 2 === 1) return quote
    from = quote + 1
  }
}

function isEscaped(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

function decodeKey(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start, end)
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw
  }
}

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
