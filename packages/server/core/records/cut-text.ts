/** Cuts text for the log: never within a surrogate pair, and with a marker that holds the text's length. */

const MARKER = /\u2026\[cut: (\d{1,16}) characters\]$/
/** The most bytes of a marker. */
const MARKER_BYTES = 40

/** Returns the text, or its first `max` characters with the marker behind them. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : cutAt(text, max)
}

/** Returns the text, cut so that it takes at most `maxBytes` as a JSON string in UTF-8, without its quotes. */
export function cutToJsonBytes(text: string, maxBytes: number): string {
  // A character takes at least a byte.
  if (text.length <= maxBytes && countFitting(text, maxBytes) === text.length) return text
  return cutAt(text, countFitting(text, Math.max(0, maxBytes - MARKER_BYTES)))
}

/** Returns the size of a text as a JSON string in UTF-8, without its quotes, in bytes. */
export function countJsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

function cutAt(text: string, end: number): string {
  // The marker of a text that was cut before holds the original length.
  const length = MARKER.exec(text)?.[1] ?? text.length
  return `${takeChars(text, end)}…[cut: ${length} characters]`
}

/** Returns the first `max` characters, or one less if the last would be half a surrogate pair. */
export function takeChars(text: string, max: number): string {
  const isWithinPair = isHigh(text.charCodeAt(max - 1)) && isLow(text.charCodeAt(max))
  return text.slice(0, isWithinPair ? max - 1 : max)
}

/** Returns the number of leading characters that take at most `maxBytes`. */
function countFitting(text: string, maxBytes: number): number {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    bytes += jsonBytesAt(text, at)
    if (bytes > maxBytes) return at
  }
  return text.length
}

/** Returns the bytes of UTF-8 that JSON.stringify writes for a code unit. The first unit of a surrogate pair counts for both. */
function jsonBytesAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 0x20) return unit === 8 || unit === 9 || unit === 10 || unit === 12 || unit === 13 ? 2 : 6
  if (unit === 0x22 || unit === 0x5c) return 2
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  if (isHigh(unit)) return isLow(text.charCodeAt(at + 1)) ? 4 : 6
  if (isLow(unit)) return isHigh(text.charCodeAt(at - 1)) ? 0 : 6
  return 3
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
