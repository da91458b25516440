import type { Vector } from './embedding-format.ts'

/** The numbers, or characters of base64, that are encoded in one piece. */
const NUMBERS_A_PIECE = 2_048
const CHARACTERS_A_PIECE = 65_536

/**
 * Encodes a vector as JSON in the form that the caller asked for, and returns the pieces. Base64 holds little-endian 32-bit
 * floats, as OpenAI's clients read it. Yields after each piece: an answer may have a million numbers.
 */
export function* encodeVector(vector: Vector, encoding: 'float' | 'base64'): Generator<void, Buffer[]> {
  const isText = typeof vector === 'string'
  if (encoding === 'base64') return yield* encodeText(isText ? vector : yield* toBase64(vector))
  return isText ? yield* encodeFloats(vector) : yield* encodeNumbers(vector)
}

function* encodeNumbers(vector: readonly number[]): Generator<void, Buffer[]> {
  const pieces: Buffer[] = []
  for (let at = 0; at < vector.length; at += NUMBERS_A_PIECE) {
    pieces.push(toPiece(vector.slice(at, at + NUMBERS_A_PIECE), at === 0))
    yield
  }
  return [OPEN, ...pieces, CLOSE]
}

function* encodeFloats(text: string): Generator<void, Buffer[]> {
  const bytes = Buffer.from(text, 'base64')
  const count = Math.floor(bytes.length / 4)
  const pieces: Buffer[] = []
  for (let at = 0; at < count; at += NUMBERS_A_PIECE) {
    const length = Math.min(NUMBERS_A_PIECE, count - at)
    const numbers = Array.from({ length }, (_, index) => bytes.readFloatLE((at + index) * 4))
    pieces.push(toPiece(numbers, at === 0))
    yield
  }
  return [OPEN, ...pieces, CLOSE]
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

function toPiece(numbers: readonly number[], isFirst: boolean): Buffer {
  const text = JSON.stringify(numbers).slice(1, -1)
  return Buffer.from(isFirst ? text : `,${text}`)
}

/** A provider may send any text for base64. */
function* encodeText(text: string): Generator<void, Buffer[]> {
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + CHARACTERS_A_PIECE
    // A pair of surrogates stays together: JSON escapes half of one.
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
    pieces.push(Buffer.from(JSON.stringify(text.slice(at, next)).slice(1, -1)))
    at = next
    yield
  }
  return [QUOTE, ...pieces, QUOTE]
}

const QUOTE = Buffer.from('"')

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function* toBase64(vector: readonly number[]): Generator<void, string> {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [index, value] of vector.entries()) {
    bytes.writeFloatLE(value, index * 4)
    if (index % NUMBERS_A_PIECE === 0) yield
  }
  return bytes.toString('base64')
}

/** Base64 of signed bytes, which some models' vectors are. */
export function fromInt8(text: string): number[] {
  const bytes = Buffer.from(text, 'base64')
  return Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}
