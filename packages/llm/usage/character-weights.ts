/** Sixteenths of a token that a character of each kind takes at most, of the tokenizers that are in use. */
const LETTER = 4
const CAPITAL = 7
export const DIGIT = 9
export const SIGN = 8
/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic. */
const ALPHABET = 10
/** Chinese, Japanese, Korean, the scripts of India and its east, halves of emoji. */
export const OTHER = 20

/** From here on a character has three bytes of UTF-8. */
const FIRST_OTHER = 0x800
const CODES = 65_536

/**
 * Sixteenths of a token by UTF-16 code unit: a look-up takes half the time of comparing. None weighs less than a quarter of a token for
 * each of its bytes of UTF-8.
 */
export const WEIGHTS: Uint8Array = Uint8Array.from({ length: CODES }, (_, code) => {
  if (code >= 128) return code < FIRST_OTHER ? ALPHABET : OTHER
  const char = String.fromCharCode(code)
  if (/[a-z\s]/.test(char)) return LETTER
  if (/[A-Z]/.test(char)) return CAPITAL
  return /\d/.test(char) ? DIGIT : SIGN
})

/** How many bits of a packed weight are sixteenths of a token. */
const PACKED_BITS = 12
/** The most characters whose packed weights may be added up: six signs stand for a control character in JSON. */
export const MAX_PACKED_CHARS = 64

/** Returns the sixteenths of a token in the sum of packed weights. */
export function toSixteenths(packed: number): number {
  return packed & ((1 << PACKED_BITS) - 1)
}

/** Returns the bytes of UTF-8 in the sum of packed weights. */
export function toBytes(packed: number): number {
  return packed >>> PACKED_BITS
}

/** The weight and the bytes of UTF-8 of each code unit in one number, so that one look-up finds both. */
export const PACKED_WEIGHTS: Uint16Array = Uint16Array.from(WEIGHTS, (weight, code) =>
  pack(weight, countBytes(code)),
)

/** The same of what stands for each code unit in JSON, where some are written as several. */
export const PACKED_JSON_WEIGHTS: Uint16Array = PACKED_WEIGHTS.slice()
for (let code = 0; code < 128; code++) {
  const written = JSON.stringify(String.fromCharCode(code)).slice(1, -1)
  let weight = 0
  for (let at = 0; at < written.length; at++) weight += WEIGHTS[written.charCodeAt(at)] as number
  PACKED_JSON_WEIGHTS[code] = pack(weight, written.length)
}

function pack(sixteenths: number, bytes: number): number {
  return (bytes << PACKED_BITS) | sixteenths
}

function countBytes(code: number): number {
  if (code < 0x80) return 1
  const isHalfOfPair = code >= 0xd800 && code < 0xe000
  return code < FIRST_OTHER || isHalfOfPair ? 2 : 3
}

/** What characters weigh together. */
export interface WeightSums {
  /** Of UTF-8. */
  bytes: number
  sixteenths: number
}

/** Adds the weights of the characters from `start` to `end`. */
export function addWeights(
  text: string,
  start: number,
  end: number,
  weights: Uint16Array,
  sums: WeightSums,
): void {
  for (let at = start; at < end; at += MAX_PACKED_CHARS) {
    const packed = packWeights(text, at, Math.min(end, at + MAX_PACKED_CHARS), weights)
    sums.bytes += toBytes(packed)
    sums.sixteenths += toSixteenths(packed)
  }
}

/** Returns the packed weight of at most MAX_PACKED_CHARS characters. */
export function packWeights(text: string, start: number, end: number, weights: Uint16Array): number {
  let packed = 0
  for (let at = start; at < end; at++) packed += weights[text.charCodeAt(at)] as number
  return packed
}
