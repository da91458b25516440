import type { Json } from './json-value.ts'
import { UnwrittenBase64 } from './unwritten-base64.ts'
import type { SentBody } from './unwritten-json.ts'

/** Texts of so many characters are decoded at once, and as many encoded: bodies that are no longer are written at once too. */
const SHORT = 256 * 1024
const SHORT_BYTES = (SHORT / 4) * 3
/** What is decoded or encoded of longer ones in a step, in characters. */
const PIECE = 64 * 1024
const PIECE_BYTES = (PIECE / 4) * 3
/** Characters that are digits of base64 or of its form for addresses: decoders take both, even mixed. */
const DIGITS = /^[\w+/-]*$/
const NO_DIGITS = /[^\w+/-]+/g
const NOT_FOUND = -1
const NOTHING = Buffer.alloc(0)

/** Returns the bytes of a text in base64, as Buffer.from makes them; those of a long text are yet to be made, each time anew. */
export function decodeBase64(text: string): SentBody {
  return text.length <= SHORT ? Buffer.from(text, 'base64') : { pieces: () => decodePieces(text) }
}

/** Decoders skip what is no digit, up to the first `=`. */
function* decodePieces(text: string): Generator<Buffer, void> {
  let rest = ''
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE)
    const end = DIGITS.test(piece) ? NOT_FOUND : piece.indexOf('=')
    const digits = rest + (end === NOT_FOUND ? piece : piece.slice(0, end)).replace(NO_DIGITS, '')
    if (end !== NOT_FOUND) return yield Buffer.from(digits, 'base64')
    const whole = digits.length - (digits.length % 4)
    rest = digits.slice(whole)
    yield Buffer.from(digits.slice(0, whole), 'base64')
  }
  yield Buffer.from(rest, 'base64')
}

/** Returns the string of a JSON text that has bytes in base64 behind `head`; of long ones it is yet to be written. */
export function toBase64Json(bytes: SentBody, head = ''): Json {
  if (Buffer.isBuffer(bytes) && bytes.length <= SHORT_BYTES) return head + bytes.toString('base64')
  return new UnwrittenBase64(head, () => toBytePieces(bytes))
}

/** Yields bytes in pieces each of which is encoded or copied at once. */
export function* toBytePieces(bytes: SentBody): Generator<Buffer, void> {
  if (!Buffer.isBuffer(bytes)) return yield* bytes.pieces()
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** Returns the bytes of all pieces, which are yet to be put together if they are many. */
export function joinLater(pieces: readonly Buffer[]): SentBody {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= SHORT_BYTES) return Buffer.concat(pieces)
  return {
    *pieces(): Generator<Buffer, void> {
      for (const piece of pieces) yield* toBytePieces(piece)
    },
  }
}

/** Returns the first bytes, which may be fewer than there are. */
export function readFirst(bytes: SentBody): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : (bytes.pieces().next().value ?? NOTHING)
}
