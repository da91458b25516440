import { findFlacSeconds, findHeldFlacSeconds, findOggSeconds } from './lossless-length.ts'

/** The fewest bytes of a second in any codec that providers read: speech in Opus or AMR has 6 to 8 kbit. */
const FEWEST_BYTES_A_SECOND = 750

/**
 * Returns the most seconds that an audio file can have, rounded up. A WAV file says how many bytes a second has, and a decoder
 * believes it too; any other file is as long as its bytes could be at the lowest bit rate in use, or as a FLAC or Ogg file itself is.
 */
export function maxSeconds(file: Buffer): number {
  const bytes = withoutTags(file)
  const rate = Math.max(FEWEST_BYTES_A_SECOND, findWavRate(bytes) ?? 0)
  const said =
    findFlacSeconds(bytes) ?? findOggSeconds(bytes) ?? (isContainer(bytes) ? findHeldFlacSeconds(bytes) : 0)
  return Math.max(1, Math.ceil(bytes.length / rate), Math.ceil(said))
}

const TAG_HEAD_BYTES = 10

/** Returns the file behind its ID3 tags, which decoders skip before every kind of audio. */
function withoutTags(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length > TAG_HEAD_BYTES && rest.toString('latin1', 0, 3) === 'ID3') {
    // Seven bits of each byte count.
    const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((rest[at] as number) & 127), 0)
    const hasFooter = ((rest[5] as number) & 16) !== 0
    rest = rest.subarray(TAG_HEAD_BYTES + size + (hasFooter ? TAG_HEAD_BYTES : 0))
  }
  return rest
}

/** True for Matroska, MP4 and a WAV file, which may hold what FLAC encodes. */
function isContainer(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 8)
  return head.startsWith('\x1aE\xdf\xa3') || head.endsWith('ftyp') || head.startsWith('RIFF')
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
