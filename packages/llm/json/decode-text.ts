import { isAscii, isUtf8, transcode } from 'node:buffer'

/** For fewer bytes than this, the call into the faster decoder costs more than it saves. */
const FAST_DECODE_BYTES = 2_048
/** Node 24's own decoder is the fastest at any length: 0.1 to 0.5 ns a byte, also of text that is not ASCII. `Float16Array` came with it. */
const IS_VECTORIZED = 'Float16Array' in globalThis

/**
 * The size in bytes of the pieces in which a longer text is decoded and parsed. V8 gives a text of more than 128 KiB fresh memory of its own,
 * which costs as much as parsing it. In Node 20 and 22 it is the other way round: their decoder leaves twice as much
 * garbage, which fills the young generation.
 */
export const PIECE_BYTES = IS_VECTORIZED ? 48 * 1024 : Number.POSITIVE_INFINITY

/**
 * Returns UTF-8 as text. The decoder of Buffer in Node 20 and 22 looks at each byte twice, and is slow from the first character
 * on that is not ASCII: 1.3 to 4 ns a byte against 0.4. What is not UTF-8 becomes U+FFFD, as in any decoder.
 */
export function decodeText(bytes: Buffer): string {
  if (IS_VECTORIZED) return bytes.toString('utf8')
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (bytes.length < FAST_DECODE_BYTES || !isUtf8(bytes)) return bytes.toString('utf8')
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}
