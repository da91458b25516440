import type { Json, JsonObject } from './json-value.ts'
import { UnwrittenBase64 } from './unwritten-base64.ts'
import { weighJson } from './weigh-json.ts'

/** What will be sent: its bytes, or what they are made of where making them at once would block the event loop. */
export type SentBody = Buffer | UnwrittenBody

/** See SentBody. */
export interface UnwrittenBody {
  /** Yields the bytes in pieces, each of which takes about a millisecond at most. */
  pieces(): Generator<Buffer, void>
}

/** A value whose JSON is yet to be written. */
interface UnwrittenValue {
  readonly value: Json
}

/** Returns the JSON text of a value, as JSON.stringify does. */
type Stringify = (value: Json) => string

/** What is lighter (`weighJson`) is written at once, which takes some milliseconds at most. Every JSON text of 256 KiB is. */
const SHORT_WEIGHT = 512 * 1024
/** No value and no name takes less than half as many bytes. */
const LEAST_WEIGHT = 4
/** The weight of what is written in one piece, and its characters. 64 Ki control characters take less than a millisecond. */
const PIECE = 64 * 1024
/** A piece of bytes that are copied. */
const COPIED_BYTES = 512 * 1024

/** Returns true if the value is written at once. */
export function isShortJson(value: unknown): boolean {
  return weighJson(value as Json, SHORT_WEIGHT, LEAST_WEIGHT) >= 0
}

/** Returns the JSON text of a value. */
export function toSentJson(value: object, stringify: Stringify = JSON.stringify): SentBody {
  if (isShortJson(value)) return Buffer.from(stringify(value as JsonObject))
  return new UnwrittenJson([{ value: value as JsonObject }], stringify)
}

/** Returns texts and the JSON of values, one after the other. */
export function toSentText(parts: readonly (string | UnwrittenValue)[]): SentBody {
  if (parts.some(part => typeof part !== 'string' && !isShortJson(part.value)))
    return new UnwrittenJson(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
  return Buffer.from(
    parts.map(part => (typeof part === 'string' ? part : JSON.stringify(part.value))).join(''),
  )
}

/** Returns a text as it is. */
export function toSentPlain(text: string): SentBody {
  return text.length <= PIECE ? Buffer.from(text) : { pieces: () => toPieces(text) }
}

/** Yields the bytes of a text. */
export function* toPieces(text: string): Generator<Buffer, void> {
  for (let at = 0; at < text.length; ) {
    const end = endOfSlice(text, at + PIECE)
    yield Buffer.from(text.slice(at, end))
    at = end
  }
}

/** A long JSON text of which parts are written already. */
export class UnwrittenJson implements UnwrittenBody {
  readonly #parts: readonly (Buffer | UnwrittenValue)[]
  readonly #stringify: Stringify

  constructor(parts: readonly (Buffer | UnwrittenValue)[], stringify: Stringify = JSON.stringify) {
    this.#parts = parts
    this.#stringify = stringify
  }

  /** See UnwrittenBody. `piece`: at least 2. */
  *pieces(piece = PIECE): Generator<Buffer, void> {
    for (const part of this.#parts) {
      if ('value' in part) yield* new ValueWriter(piece, this.#stringify).write(part.value)
      else for (let at = 0; at < part.length; at += COPIED_BYTES) yield part.subarray(at, at + COPIED_BYTES)
    }
  }

  /** Returns the whole text, which takes as long as JSON.stringify does. */
  toString(): string {
    return Buffer.concat([...this.pieces()]).toString()
  }
}

/** Writes one value: what is light by one call, and the rest by its members. */
class ValueWriter {
  readonly #piece: number
  readonly #stringify: Stringify
  #text = ''

  constructor(piece: number, stringify: Stringify) {
    this.#piece = piece
    this.#stringify = stringify
  }

  *write(value: Json): Generator<Buffer, void> {
    yield* this.#value(value)
    if (this.#text !== '') yield this.#take()
  }

  *#value(value: Json): Generator<Buffer, void> {
    if (weighJson(value, this.#piece) >= 0) this.#text += this.#stringify(value)
    else if (typeof value === 'string') yield* this.#string(value)
    else if (value instanceof UnwrittenBase64) yield* this.#base64(value)
    else if (Array.isArray(value)) yield* this.#list(value)
    else if (typeof value === 'object' && value !== null) yield* this.#object(value)
    // A scalar in a piece that is smaller than the weight of any value.
    else this.#text += this.#stringify(value)
    if (this.#isFull) yield this.#take()
  }

  *#string(text: string): Generator<Buffer, void> {
    this.#text += '"'
    for (let at = 0; at < text.length; ) {
      const end = endOfSlice(text, at + this.#piece)
      this.#text += this.#stringify(text.slice(at, end)).slice(1, -1)
      at = end
      if (this.#isFull) yield this.#take()
    }
    this.#text += '"'
  }

  *#base64(value: UnwrittenBase64): Generator<Buffer, void> {
    this.#text += '"'
    yield this.#take()
    yield* UnwrittenBase64.write(value)
    this.#text += '"'
  }

  *#list(list: readonly Json[]): Generator<Buffer, void> {
    this.#text += '['
    for (let at = 0; at < list.length; ) {
      if (at > 0) this.#text += ','
      const end = endOfRun(list, at, this.#piece)
      if (end === at) yield* this.#value(list[at++] ?? null)
      else {
        this.#text += this.#stringify(list.slice(at, end)).slice(1, -1)
        at = end
      }
      if (this.#isFull) yield this.#take()
    }
    this.#text += ']'
  }

  *#object(object: JsonObject): Generator<Buffer, void> {
    let separator = '{'
    for (const name of Object.keys(object)) {
      const value = object[name]
      if (value === undefined) continue
      this.#text += `${separator}${JSON.stringify(name)}:`
      separator = ','
      yield* this.#value(value)
    }
    this.#text += separator === '{' ? '{}' : '}'
  }

  get #isFull(): boolean {
    return this.#text.length >= this.#piece
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    return bytes
  }
}

/** Returns where a slice of a text ends that would end at `end`: a pair of surrogates stays together, because half of one is written otherwise. */
function endOfSlice(text: string, end: number): number {
  const isInPair = isHalf(text, end - 1, 0xd800) && isHalf(text, end, 0xdc00)
  return isInPair ? end - 1 : Math.min(end, text.length)
}

/** `first`: 0xd800 for the first halves of pairs, 0xdc00 for the second ones. */
function isHalf(text: string, at: number, first: number): boolean {
  const code = text.charCodeAt(at)
  return code >= first && code < first + 0x400
}

/** Returns the end of the members from `at` on that are light together; `at`: the first one is not. */
function endOfRun(list: readonly Json[], at: number, room: number): number {
  let end = at
  for (let left = room; end < list.length; end++) {
    left = weighJson(list[end], left)
    if (left < 0) break
  }
  return end
}
