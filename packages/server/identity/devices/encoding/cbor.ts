import { isUtf8 } from 'node:buffer'
import { InvalidDeviceError } from './invalid-device-error.ts'

export type CborValue = number | boolean | null | string | Buffer | readonly CborValue[] | CborMap
export type CborMap = ReadonlyMap<string | number, CborValue>

/** Real objects have 4 levels and about 20 items. */
const MAX_DEPTH = 6
const MAX_ITEMS = 256

/**
 * Decodes one item of CBOR (RFC 8949) that fills the bytes. Throws InvalidDeviceError for anything that has two spellings or
 * two readings: lengths or numbers in more bytes than they need, indefinite lengths, duplicate keys, text that is not UTF-8.
 * Tags and floating-point numbers do not occur in attestations and are rejected too. Byte strings share the input's memory.
 */
export function decodeCbor(bytes: Buffer): CborValue {
  const { value, end } = decodeCborAt(bytes, 0)
  if (end !== bytes.length) throw invalid('bytes follow its end')
  return value
}

/** Decodes the item at an offset, and returns where it ends. Otherwise as decodeCbor(). */
export function decodeCborAt(bytes: Buffer, offset: number): { value: CborValue; end: number } {
  const reader = new CborReader(bytes, offset)
  const value = reader.read(0)
  return { value, end: reader.offset }
}

class CborReader {
  offset: number
  readonly #bytes: Buffer
  #items = 0

  constructor(bytes: Buffer, offset: number) {
    this.#bytes = bytes
    this.offset = offset
  }

  read(depth: number): CborValue {
    if (depth > MAX_DEPTH) throw invalid('it is nested too deeply')
    if (++this.#items > MAX_ITEMS) throw invalid('it has too many items')
    const head = this.#take(1).readUInt8()
    const major = head >> 5
    const info = head & 0x1f
    if (major === 7) return toSimple(info)
    const argument = this.#readArgument(info)
    if (major === 0) return argument
    if (major === 1) return -1 - argument
    if (major === 2) return this.#take(argument)
    if (major === 3) return this.#readText(argument)
    if (major === 4) return this.#readList(argument, depth)
    if (major === 5) return this.#readMap(argument, depth)
    throw invalid('it has a tag')
  }

  /** The number in an item's head: a value, a length or a count. */
  #readArgument(info: number): number {
    if (info < 24) return info
    if (info > 27) throw invalid('it has an indefinite length')
    const size = 1 << (info - 24)
    const bytes = this.#take(size)
    const value = size === 8 ? Number(bytes.readBigUInt64BE()) : bytes.readUIntBE(0, size)
    if (!Number.isSafeInteger(value)) throw invalid('a number is too large')
    if (value < (size === 1 ? 24 : 2 ** (size * 4))) throw invalid('a number takes more bytes than it needs')
    return value
  }

  #readText(length: number): string {
    const bytes = this.#take(length)
    if (!isUtf8(bytes)) throw invalid('a text is not UTF-8')
    return bytes.toString('utf8')
  }

  #readList(count: number, depth: number): CborValue[] {
    const list: CborValue[] = []
    // The bounds on items and bytes end this loop, whatever the count is.
    for (let index = 0; index < count; index++) list.push(this.read(depth + 1))
    return list
  }

  #readMap(count: number, depth: number): CborMap {
    const map = new Map<string | number, CborValue>()
    for (let index = 0; index < count; index++) {
      const key = this.read(depth + 1)
      if (typeof key !== 'string' && typeof key !== 'number') throw invalid('a key is no text or number')
      if (map.has(key)) throw invalid('a key occurs twice')
      map.set(key, this.read(depth + 1))
    }
    return map
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.offset) throw invalid('it is cut')
    const start = this.offset
    this.offset += length
    return this.#bytes.subarray(start, this.offset)
  }
}

function toSimple(info: number): boolean | null {
  if (info === 20) return false
  if (info === 21) return true
  if (info === 22) return null
  throw invalid('it has a value of an unknown kind')
}

function invalid(problem: string): InvalidDeviceError {
  return new InvalidDeviceError(`CBOR: ${problem}.`)
}
