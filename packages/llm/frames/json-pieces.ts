import { isAscii, transcode } from 'node:buffer'
import type { Json, JsonObject } from '../spec.ts'
import type { StructureWalk } from './structure-walk.ts'

/**
 * A text of more than 128 KiB has a mapping of its own in V8's heap, and making one costs more than parsing it. Text
 * that is not ASCII takes two bytes a character here.
 */
export const PIECE_BYTES = 32 * 1024

/** Below so many bytes the call into the faster decoder costs more than it saves. */
const FAST_DECODE_BYTES = 2_048

/**
 * What JSON.parse gives for the whole text, from pieces of it: a long top-level field is parsed on its own, and a long
 * array there in runs of elements. Throws a SyntaxError where JSON.parse would. No key may stand twice in the object.
 *
 * It holds for any bytes, whatever the walk made of them: the text with `null` in the place of long values is parsed,
 * and so is each of them; to put a valid value in the place of a valid one leaves a text valid.
 */
export function parsePieces(bytes: Buffer, { fields, cuts }: StructureWalk, pieceBytes: number): Json {
  let skeleton = ''
  let rest = 0
  const long = new Map<string, Json>()
  for (const [name, { valueStart, valueEnd }] of fields) {
    if (valueStart < rest) throw new SyntaxError('fields out of order')
    if (valueEnd - valueStart < pieceBytes / 8) continue
    skeleton += `${decode(bytes, rest, valueStart)}null`
    rest = valueEnd
    const inside = cuts.filter(cut => cut > valueStart && cut < valueEnd)
    long.set(
      name,
      inside.length === 0
        ? parse(bytes, valueStart, valueEnd)
        : parseArray(bytes, valueStart, valueEnd, inside),
    )
  }
  const value = JSON.parse(skeleton + decode(bytes, rest, bytes.length)) as JsonObject
  for (const [name, field] of long) {
    // An assignment to __proto__ would not make a field.
    Object.defineProperty(value, name, { value: field, writable: true, enumerable: true, configurable: true })
  }
  return value
}

/** Parses the text between two offsets. Throws a SyntaxError. */
export function parse(bytes: Buffer, start: number, end: number): Json {
  return JSON.parse(decode(bytes, start, end)) as Json
}

/** `cuts` are commas between its elements. */
function parseArray(bytes: Buffer, start: number, end: number, cuts: readonly number[]): Json[] {
  const elements: Json[] = []
  let from = start
  for (const cut of [...cuts, end]) {
    // Each run becomes an array of its own by the brackets that it lacks.
    const text = `${from === start ? '' : '['}${decode(bytes, from, cut)}${cut === end ? '' : ']'}`
    const run = JSON.parse(text) as Json[]
    if (run.length === 0) throw new SyntaxError('a comma without an element')
    for (const element of run) elements.push(element)
    from = cut + 1
  }
  return elements
}

function decode(bytes: Buffer, start: number, end: number): string {
  const piece = bytes.subarray(start, end)
  if (isAscii(piece)) return piece.toString('latin1')
  if (piece.length < FAST_DECODE_BYTES) return piece.toString('utf8')
  return transcode(piece, 'utf8', 'utf16le').toString('utf16le')
}
