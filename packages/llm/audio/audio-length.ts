import { findFlacSeconds, findOggSeconds } from './lossless-length.ts'

/** The fewest bytes of a second in any codec that providers read: speech in Opus or AMR has 6 to 8 kbit. */
const FEWEST_BYTES_A_SECOND = 750

/**
 * Returns the most seconds that an audio file can have, rounded up. A WAV file says how many bytes a second has, and a decoder
 * believes it too; any other file is as long as its bytes could be at the lowest bit rate in use, or as a FLAC or Ogg file itself is.
 */
export function maxSeconds(bytes: Buffer): number {
  const rate = Math.max(FEWEST_BYTES_A_SECOND, findWavRate(bytes) ?? 0)
  const said = findFlacSeconds(bytes) ?? findOggSeconds(bytes) ?? 0
  return Math.max(1, Math.ceil(bytes.length / rate), Math.ceil(said))
}

/** The bytes a second of a WAV file with PCM samples; undefined for any other file. */
function findWavRate(bytes: Buffer): number | undefined {
  if (bytes.length < 36 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  if (bytes.toString('latin1', 8, 16) !== 'WAVEfmt ') return undefined
  const isPcm = bytes.readUInt16LE(20) === 1
  const channels = bytes.readUInt16LE(22)
  const samples = bytes.readUInt32LE(24)
  const bits = bytes.readUInt16LE(34)
  // From what decoders use: the header's own rate of bytes is often wrong.
  return isPcm ? (channels * samples * bits) / 8 : undefined
}
