/** What a WAV file states about its samples. */
export interface WavFormat {
  /** True for samples that take one number of bytes a second whatever is heard: PCM, floats, A-law, mu-law and ADPCM. */
  readonly isUncompressed: boolean
  readonly isPcm: boolean
  /** Undefined where the samples are compressed. 0: the file states no rate. */
  readonly bytesPerSecond: number | undefined
}

const RIFF_HEAD_BYTES = 12
const CHUNK_HEAD_BYTES = 8
/** The most chunks that are read before the format. Programs write up to four, such as `JUNK` and `bext`. */
const MAX_CHUNKS = 64

const PCM = 1
const EXTENSIBLE = 0xfffe
const EXTENSIBLE_BYTES = 40
/** PCM, Microsoft's ADPCM, floats, A-law, mu-law, IMA's ADPCM. */
const UNCOMPRESSED: ReadonlySet<number> = new Set([PCM, 2, 3, 6, 7, 0x11])
/** The bits of a sample where the format sets them: of ADPCM, besides what the heads of its blocks take, and of A-law and mu-law. */
const FIXED_BITS: ReadonlyMap<number, number> = new Map([
  [2, 4],
  [0x11, 4],
  [6, 8],
  [7, 8],
])
/** What follows the number of a format in the GUID of an extensible one. */
const GUID_END = Buffer.from('00001000800000aa00389b71', 'hex')

/** Returns the format of a WAV file; undefined for any other file, and where the format is not found or cut off. */
export function findWavFormat(file: Buffer): WavFormat | undefined {
  const chunk = findFormatChunk(file)
  if (chunk === undefined || chunk.length < 16) return undefined
  const isExtensible = chunk.readUInt16LE(0) === EXTENSIBLE
  const tag = isExtensible ? findExtendedTag(chunk) : chunk.readUInt16LE(0)
  if (tag === undefined) return undefined
  const channels = chunk.readUInt16LE(2)
  const samples = chunk.readUInt32LE(4)
  const bits = chunk.readUInt16LE(14)
  // Decoders take the bits in use, if any are stated, for the size of a sample.
  const used = (isExtensible && chunk.readUInt16LE(18)) || bits
  const sampleBits = FIXED_BITS.get(tag) ?? Math.min(bits, used)
  const isUncompressed = UNCOMPRESSED.has(tag)
  // From what decoders use: the header's own rate of bytes is often wrong.
  const bytesPerSecond = isUncompressed ? (channels * samples * sampleBits) / 8 : undefined
  return { isUncompressed, isPcm: tag === PCM, bytesPerSecond }
}

/** Returns what the first chunk `fmt ` has, which is the one that decoders read; it may follow others. */
function findFormatChunk(file: Buffer): Buffer | undefined {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') return undefined
  let at = RIFF_HEAD_BYTES
  for (let chunks = 0; chunks < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= file.length; chunks++) {
    const size = file.readUInt32LE(at + 4)
    const start = at + CHUNK_HEAD_BYTES
    if (file.toString('latin1', at, at + 4) === 'fmt ') return file.subarray(start, start + size)
    at = start + size + (size & 1)
  }
  return undefined
}

/** Returns the number of the format in the GUID of an extensible one; undefined if it is cut off or has none. */
function findExtendedTag(chunk: Buffer): number | undefined {
  if (chunk.length < EXTENSIBLE_BYTES || chunk.readUInt16LE(16) < EXTENSIBLE_BYTES - 18) return undefined
  return chunk.subarray(28, EXTENSIBLE_BYTES).equals(GUID_END) ? chunk.readUInt32LE(24) : undefined
}
