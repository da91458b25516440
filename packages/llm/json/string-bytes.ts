import { isAscii } from 'node:buffer'

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const NOT_FOUND = -1

/** Up to this length a loop finds the end of a string sooner than a call of the native search does. */
const NEAR_BYTES = 48

/**
 * Index of the quote that closes the string, or `limit` where it is not before that; -1 where the bytes end before both.
 * `from` stands in the string and not within an escape.
 */
export function indexOfStringEnd(bytes: Buffer, from: number, limit: number): number {
  let at = from
  for (;;) {
    const near = Math.min(at + NEAR_BYTES, bytes.length)
    let quote = at
    while (quote < near && bytes[quote] !== QUOTE) quote++
    if (quote === near) quote = indexOfQuote(bytes, near, limit)
    if (quote === NOT_FOUND || quote >= limit) return quote
    // An even number of backslashes escapes only themselves.
    if (countBackslashes(bytes, from, quote - 1) % 2 === 0) return quote
    at = quote + 1
  }
}

/** Looks no further than `limit`: a caller that continues from there would otherwise pay for the rest each time. */
function indexOfQuote(bytes: Buffer, from: number, limit: number): number {
  if (limit >= bytes.length) return bytes.indexOf(QUOTE, from)
  if (from >= limit) return limit
  const quote = bytes.subarray(from, limit).indexOf(QUOTE)
  return quote === NOT_FOUND ? limit : from + quote
}

/** How many there are in a row that ends at `last`, down to `from`. */
function countBackslashes(bytes: Buffer, from: number, last: number): number {
  let at = last
  while (at >= from && bytes[at] === BACKSLASH) at--
  return last - at
}

/** Every byte of a string stands for one character, itself: ASCII, without escapes and what JSON allows in no string. */
export function isPlain(bytes: Buffer, start: number, end: number): boolean {
  const part = bytes.subarray(start, end)
  return isAscii(part) && !part.includes(BACKSLASH) && !hasControl(part)
}

/** Returns true if ASCII bytes contain one below 0x20. Looks at four together, since a long string has millions. */
function hasControl(bytes: Buffer): boolean {
  const start = Math.min((4 - (bytes.byteOffset & 3)) & 3, bytes.length)
  const count = (bytes.length - start) >> 2
  if (hasControlByte(bytes, 0, start) || hasControlByte(bytes, start + count * 4, bytes.length)) return true
  if (count === 0) return false
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, count)
  for (let index = 0; index < count; index++) {
    // 0x20 taken from each byte: the highest bit, which no ASCII has, is borrowed by those below 0x20 alone.
    if ((((words[index] as number) - 0x20202020) & 0x80808080) !== 0) return true
  }
  return false
}

function hasControlByte(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] as number) < SPACE) return true
  return false
}

/**
 * The last index up to `at` that stands within neither an escape nor a UTF-8 sequence. `from` is such an index below, and
 * the bytes between are of one string.
 */
export function indexOfWholeCharacter(bytes: Buffer, from: number, at: number): number {
  let whole = at
  while (whole > from && ((bytes[whole] as number) & 0xc0) === 0x80) whole--
  for (let back = whole - 1; back >= from && back >= whole - 5; back--) {
    if (bytes[back] !== BACKSLASH) continue
    // The last of an odd number begins an escape: `\n`, or `\u00e9`, which may reach beyond.
    const isEscape = countBackslashes(bytes, from, back) % 2 === 1
    const length = bytes[back + 1] === LETTER_U ? 6 : 2
    return isEscape && back + length > whole ? back : whole
  }
  return whole
}
