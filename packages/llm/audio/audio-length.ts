import { measureFlacSeconds, measureOggSeconds } from './lossless-length.ts'
import { findWavFormat } from './wav-format.ts'

/** The fewest bytes of a second in any codec that providers read: speech in Opus or AMR has 6 to 8 kbit. */
const FEWEST_BYTES_A_SECOND = 750

/**
 * Returns the most seconds that an audio file can have, rounded up. A WAV file of PCM says how many bytes a second has, and a
 * decoder believes it too; any other file is as long as its bytes could be at the lowest bit rate in use, or as the frames of FLAC in it
 * and the pages of Ogg are. The whole file counts, tags too: some decoders look for audio in what others take for a tag. Yields
 * between pieces of the work: 30 MB take up to 0.1 s.
 */
export function* measureSeconds(file: Buffer): Generator<void, number> {
  const wav = findWavFormat(file)
  const stated = wav?.bytesPerSecond || FEWEST_BYTES_A_SECOND
  // Only of PCM is a high rate believed.
  const rate = wav?.isPcm ? stated : Math.min(stated, FEWEST_BYTES_A_SECOND)
  const seconds = Math.max(1, Math.ceil(file.length / rate))
  return wav?.isUncompressed ? seconds : Math.max(seconds, yield* measureStatedSeconds(file))
}

/** Any file may hold FLAC: Matroska, MP4, WAV and Ogg do, and decoders read frames that have no file around them too. */
function* measureStatedSeconds(file: Buffer): Generator<void, number> {
  const audio = withoutTags(file)
  const seconds = yield* measureFlacSeconds(file, audio)
  return Math.ceil(Math.max(seconds, yield* measureOggSeconds(audio)))
}

const TAG_HEAD_BYTES = 10
/** The most tags that are skipped. Files have one or two. */
const MAX_TAGS = 8

/** Returns the file behind its ID3 tags, which decoders skip before every kind of audio. */
function withoutTags(file: Buffer): Buffer {
  let at = 0
  for (let tags = 0; tags < MAX_TAGS && file.toString('latin1', at, at + 3) === 'ID3'; tags++) {
    const size = findTagSize(file.subarray(at, at + TAG_HEAD_BYTES))
    if (size === undefined) break
    at += size
  }
  return file.subarray(at)
}

/** Returns the bytes of a tag with its head and footer; undefined if decoders take it for no tag. */
function findTagSize(head: Buffer): number | undefined {
  if (head.length < TAG_HEAD_BYTES) return undefined
  const sizes = [...head.subarray(6)]
  if (sizes.some(byte => byte >= 0x80)) return undefined
  const hasFooter = ((head[5] as number) & 16) !== 0
  // Seven bits of each byte count.
  return sizes.reduce((sum, byte) => sum * 128 + byte, 0) + TAG_HEAD_BYTES * (hasFooter ? 2 : 1)
}
