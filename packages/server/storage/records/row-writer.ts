import { toStorableText, UnstorableValue } from './storable.ts'

/** The most bytes that a field takes besides those of a text. */
export const MAX_FIELD_BYTES = 20
/** The most bytes that UTF-8 takes for a UTF-16 code unit. */
export const MAX_UNIT_BYTES = 3

/** The first bytes of a COPY in PostgreSQL's binary format: its signature, no flags, no extension. */
export const COPY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
/** The last bytes of a copy. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff])

const NULL = -1
/** Milliseconds from 1970 to 2000, from which PostgreSQL counts its microseconds. */
const EPOCH_MS = 946_684_800_000
/** The times of Date, in milliseconds. PostgreSQL stores later ones too. */
const MAX_TIME_MS = 8.64e15
const INT4_LIMIT = 2 ** 31
const INT8_LIMIT = 2 ** 63
const TWO_32 = 2 ** 32
const JSONB_VERSION = 1
/** The longest text, in characters, for which a loop is faster than a call of the runtime's encoder. */
const SHORT_CHARS = 32

const UUID_CHARS = 36
const HYPHEN = 0x2d
const UUID_BYTES = 16
/** Where the two digits of each byte of a UUID begin. */
const DIGITS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34)
/** The most UUIDs that are remembered with their bytes. Most records are of few tenants and keys. */
const MAX_KNOWN = 1_000
/** The value of each character as a hexadecimal digit; -1: it is none. */
const HEX = new Int8Array(2 ** 16).fill(-1)
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/**
 * Writes the fields of rows in PostgreSQL's binary format of COPY: the length of each and its bytes. The server reads it in half
 * the time that it needs for text. Every method throws an UnstorableValue for a value of another type, and writes null for null,
 * undefined, and numbers that JSON does not have.
 */
export class RowWriter {
  /** True: no text of the row has a character that must be replaced. */
  isPlain = false
  readonly #known = new Map<string, Buffer>()
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  /** Goes on at this place, behind which there must be room: MAX_FIELD_BYTES for each field, and what its text takes. */
  moveTo(bytes: Buffer, at: number): void {
    this.#bytes = bytes
    this.#at = at
  }

  /** Where the next field begins. */
  get at(): number {
    return this.#at
  }

  text(value: unknown): void {
    if (value === null || value === undefined) return this.#writeInt32(NULL)
    this.#writeText(this.isPlain && typeof value === 'string' ? value : toStorableText(toText(value)))
  }

  /** JSON that was made by JSON.stringify, and can be stored (toStorableJson). */
  jsonb(json: string | undefined): void {
    if (json === undefined) return this.#writeInt32(NULL)
    const start = this.#at
    this.#bytes[start + 4] = JSONB_VERSION
    this.#at = start + 5
    this.#writeChars(json)
    this.#writeLength(start)
  }

  boolean(value: unknown): void {
    if (typeof value !== 'boolean') return this.#writeNull(value, 'boolean')
    this.#writeInt32(1)
    this.#bytes[this.#at++] = value ? 1 : 0
  }

  int4(value: unknown): void {
    if (!this.#isNumber(value)) return
    assertInteger(value, INT4_LIMIT)
    this.#writeInt32(4)
    this.#writeInt32(value)
  }

  int8(value: unknown): void {
    if (!this.#isNumber(value)) return
    assertInteger(value, INT8_LIMIT)
    this.#writeInt32(8)
    this.#writeInt64(value)
  }

  /** A column of type real. */
  float4(value: unknown): void {
    if (!this.#isNumber(value)) return
    const rounded = Math.fround(value)
    // Too large, or too small to differ from zero.
    if (!Number.isFinite(rounded) || (rounded === 0 && value !== 0))
      throw new UnstorableValue('22003', `${value} is out of range`)
    this.#writeInt32(4)
    this.#at = this.#bytes.writeFloatBE(value, this.#at)
  }

  /** A time in Unix milliseconds. */
  timestamp(ms: number | undefined): void {
    if (ms === undefined) return this.#writeInt32(NULL)
    if (!Number.isInteger(ms)) throw new UnstorableValue('22007', `${ms} is no time`)
    if (Math.abs(ms) > MAX_TIME_MS) throw new UnstorableValue('22008', `${ms} is out of range`)
    this.#writeInt32(8)
    // In two halves: as one number the microseconds of times after 2285 are not exact.
    const high = Math.floor((ms - EPOCH_MS) / TWO_32)
    const lowUs = (ms - EPOCH_MS - high * TWO_32) * 1_000
    this.#writeInt32(high * 1_000 + Math.floor(lowUs / TWO_32))
    this.#writeInt32(lowUs % TWO_32)
  }

  uuid(value: unknown): void {
    if (typeof value !== 'string') return this.#writeNull(value, 'UUID')
    this.#writeInt32(UUID_BYTES)
    writeUuid(this.#bytes, this.#at, value)
    this.#at += UUID_BYTES
  }

  /** Writes a UUID that many records have: its bytes are remembered. */
  knownUuid(value: unknown): void {
    if (typeof value !== 'string') return this.uuid(value)
    let known = this.#known.get(value)
    if (known === undefined) {
      known = Buffer.allocUnsafe(UUID_BYTES)
      writeUuid(known, 0, value)
      if (this.#known.size >= MAX_KNOWN) this.#known.clear()
      this.#known.set(value, known)
    }
    this.#writeInt32(UUID_BYTES)
    const bytes = this.#bytes
    const at = this.#at
    for (let index = 0; index < UUID_BYTES; index++) bytes[at + index] = known[index] as number
    this.#at = at + UUID_BYTES
  }

  /** Writes null for what is no number in JSON. */
  #isNumber(value: unknown): value is number {
    if (typeof value === 'number' && Number.isFinite(value)) return true
    if (typeof value === 'number') this.#writeInt32(NULL)
    else this.#writeNull(value, 'number')
    return false
  }

  #writeNull(value: unknown, kind: string): void {
    if (value !== null && value !== undefined)
      throw new UnstorableValue('22P02', `a ${typeof value} is no ${kind}`)
    this.#writeInt32(NULL)
  }

  #writeText(text: string): void {
    const start = this.#at
    this.#at = start + 4
    this.#writeChars(text)
    this.#writeLength(start)
  }

  #writeChars(text: string): void {
    const bytes = this.#bytes
    let at = this.#at
    if (text.length <= SHORT_CHARS) {
      let char = 0
      for (; char < text.length; char++) {
        const code = text.charCodeAt(char)
        if (code >= 0x80) break
        bytes[at++] = code
      }
      if (char === text.length) {
        this.#at = at
        return
      }
    }
    this.#at += bytes.write(text, this.#at, 'utf8')
  }

  /** The length of the field that begins at `start` and ends here. */
  #writeLength(start: number): void {
    const end = this.#at
    this.#at = start
    this.#writeInt32(end - start - 4)
    this.#at = end
  }

  #writeInt64(value: number): void {
    const high = Math.floor(value / TWO_32)
    this.#writeInt32(high)
    this.#writeInt32(value - high * TWO_32)
  }

  /** The lowest 32 bits. */
  #writeInt32(value: number): void {
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = value >>> 24
    bytes[at + 1] = value >>> 16
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value
    this.#at = at + 4
  }
}

/** Throws an UnstorableValue for a text that is no UUID. */
function writeUuid(bytes: Buffer, start: number, text: string): void {
  let odd = text.length - UUID_CHARS
  odd |= (text.charCodeAt(8) ^ HYPHEN) | (text.charCodeAt(13) ^ HYPHEN)
  odd |= (text.charCodeAt(18) ^ HYPHEN) | (text.charCodeAt(23) ^ HYPHEN)
  for (let index = 0; index < UUID_BYTES; index++) {
    const digit = DIGITS[index] as number
    const high = HEX[text.charCodeAt(digit)] as number
    const low = HEX[text.charCodeAt(digit + 1)] as number
    // Negative where either is no digit.
    const byte = (high << 4) | low
    odd |= byte & ~0xff
    bytes[start + index] = byte
  }
  if (odd !== 0) throw new UnstorableValue('22P02', 'an id is no UUID')
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function assertInteger(value: number, limit: number): void {
  if (!Number.isInteger(value)) throw new UnstorableValue('22P02', `${value} is no whole number`)
  if (value >= limit || value < -limit) throw new UnstorableValue('22003', `${value} is out of range`)
}
