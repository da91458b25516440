import { type ByteVisitor, visitBytes } from './visit-bytes.ts'

/** Samples a second where a file does not say: the fewest that is usual. */
const DEFAULT_SAMPLE_RATE = 8_000
const OPUS_SAMPLES = 48_000
/** The shortest header of a page of Ogg. */
const PAGE_HEADER_BYTES = 27
/** The first byte of `OggS`. */
const PAGE_START = 0x4f
const NOT_FOUND = -1

/**
 * Returns the seconds of the FLAC that a file has, in which hours of silence take few bytes. By its frames, which decoders believe,
 * wherever in the file they are; and by the header of `audio`, the part of the file behind its tags, if that is more. Yields between
 * pieces of the work: a file may have 32 MiB.
 */
export function* measureFlacSeconds(file: Buffer, audio: Buffer): Generator<void, number> {
  if (audio.length < 42 || audio.toString('latin1', 0, 4) !== 'fLaC')
    return yield* addFrames(file, DEFAULT_SAMPLE_RATE)
  const given = audio.readUIntBE(18, 3) >> 4
  const rate = given === 0 ? DEFAULT_SAMPLE_RATE : given
  const said = ((audio[21] as number) & 15) * 2 ** 32 + audio.readUInt32BE(22)
  return Math.max(said / rate, yield* addFrames(file, rate))
}

/** The most frames that are read: some hours of audio. What follows is counted as frames of the largest size. */
const MAX_FRAMES = 50_000
/** The most starts of frames with a wrong checksum that are examined, which bounds the time. No recording has as many. */
const MAX_WRONG = 500_000
const MIN_FRAME_BYTES = 10
const MAX_FRAME_SAMPLES = 65_536

/** A frame begins with 14 bits of which all but the last are set, and says in the 16th whether frames have one length. */
const START = 0xff
const SECOND = 0xf8
const SECOND_MASK = 0xfe

function* addFrames(bytes: Buffer, rate: number): Generator<void, number> {
  const frames = new Frames(bytes, rate)
  yield* visitBytes(bytes, frames)
  return frames.seconds
}

/** Adds the seconds of all frames. */
class Frames implements ByteVisitor {
  readonly value = START
  seconds = 0
  readonly #bytes: Buffer
  readonly #rate: number
  #right = 0
  #wrong = 0

  constructor(bytes: Buffer, rate: number) {
    this.#bytes = bytes
    this.#rate = rate
  }

  visit(at: number): number {
    const bytes = this.#bytes
    if (((bytes[at + 1] as number) & SECOND_MASK) !== SECOND || !hasValidCodes(bytes, at)) return at + 1
    const duration = readFrame(bytes, at, this.#rate)
    this.seconds += duration
    if (duration > 0) this.#right++
    else this.#wrong++
    if (this.#right <= MAX_FRAMES && this.#wrong <= MAX_WRONG) return at + 1
    this.seconds += maxFrameSeconds(bytes.length - at, this.#rate)
    return bytes.length
  }
}

/** The seconds of the most and largest frames that so many bytes can have. */
function maxFrameSeconds(bytes: number, rate: number): number {
  return ((bytes / MIN_FRAME_BYTES) * MAX_FRAME_SAMPLES) / Math.min(rate, DEFAULT_SAMPLE_RATE)
}

/** False for what decoders refuse. So are starts in quiet samples, which a byte of zeros or ones follows. */
function hasValidCodes(bytes: Buffer, at: number): boolean {
  if (at + 5 >= bytes.length) return false
  const codes = bytes[at + 2] as number
  if (codes < 16 || (codes & 15) === 15 || ((bytes[at + 3] as number) & 1) !== 0) return false
  const number = bytes[at + 4] as number
  return number < 0x80 || (number >= 0xc0 && number < 0xff)
}

/** Samples a second by their code, of frames that do not leave it to the file's header or write it out. */
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]

/** The seconds of the frame that may begin at `at`: 0 if the checksum of its header is wrong. */
function readFrame(bytes: Buffer, at: number, rateOfFile: number): number {
  const codes = bytes[at + 2] as number
  const ofSize = codes >> 4
  const ofRate = codes & 15
  const sizeAt = at + 4 + toNumberLength(bytes[at + 4] as number)
  const rateAt = sizeAt + (ofSize === 6 ? 1 : ofSize === 7 ? 2 : 0)
  const end = rateAt + (ofRate === 12 ? 1 : ofRate === 13 || ofRate === 14 ? 2 : 0)
  if (end >= bytes.length || toChecksum(bytes, at, end) !== bytes[end]) return 0
  const written = end > rateAt ? bytes.readUIntBE(rateAt, end - rateAt) : 0
  const scale = ofRate === 12 ? 1_000 : ofRate === 14 ? 10 : 1
  const named = written > 0 ? written * scale : (RATES[ofRate] ?? 0)
  const rate = named > 0 ? named : rateOfFile
  return toSamples(ofSize, rateAt > sizeAt ? bytes.readUIntBE(sizeAt, rateAt - sizeAt) + 1 : 0) / rate
}

function toSamples(code: number, written: number): number {
  if (written > 0) return written
  if (code === 1) return 192
  return code < 6 ? 576 * 2 ** (code - 2) : 256 * 2 ** (code - 8)
}

/** The number of a frame is written like a character in UTF-8, by its first byte. */
function toNumberLength(first: number): number {
  return first < 0x80 ? 1 : Math.max(1, Math.clz32(~(first << 24)))
}

/** The CRC-8 of each byte, by the polynomial x^8 + x^2 + x + 1. */
const CHECKSUMS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1
  return crc
})

/** The CRC-8 of a frame's header. */
function toChecksum(bytes: Buffer, start: number, end: number): number {
  let crc = 0
  for (let at = start; at < end; at++) crc = CHECKSUMS[crc ^ (bytes[at] as number)] as number
  return crc
}

/** Returns the seconds of an Ogg file by the largest position of its pages; 0 for any other file. Yields between pieces of the work. */
export function* measureOggSeconds(bytes: Buffer): Generator<void, number> {
  if (bytes.toString('latin1', 0, 4) !== 'OggS') return 0
  const pages = new Pages(bytes)
  yield* visitBytes(bytes, pages)
  return pages.samples / toOggRate(bytes.subarray(0, 128))
}

/** The bytes of a page up to the end of its position. */
const POSITION_END = 14

/** Finds the largest position of a page. */
class Pages implements ByteVisitor {
  readonly value = PAGE_START
  samples = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  visit(at: number): number {
    const bytes = this.#bytes
    if (at + POSITION_END > bytes.length || !isPage(bytes, at)) return at + 1
    const position = bytes.readUInt32LE(at + 6) + bytes.readInt32LE(at + 10) * 2 ** 32
    this.samples = Math.max(this.samples, position)
    return at + PAGE_HEADER_BYTES
  }
}

function isPage(bytes: Buffer, at: number): boolean {
  return bytes[at + 1] === 0x67 && bytes[at + 2] === 0x67 && bytes[at + 3] === 0x53
}

/** Returns the sample rate by the codec that the first page names. */
function toOggRate(head: Buffer): number {
  if (head.includes('OpusHead', 0, 'latin1')) return OPUS_SAMPLES
  const vorbis = head.indexOf('\u0001vorbis', 0, 'latin1')
  const flac = head.indexOf('fLaC', 0, 'latin1')
  const rate =
    vorbis !== NOT_FOUND && vorbis + 16 <= head.length
      ? head.readUInt32LE(vorbis + 12)
      : flac !== NOT_FOUND && flac + 21 <= head.length
        ? head.readUIntBE(flac + 18, 3) >> 4
        : 0
  return rate === 0 ? DEFAULT_SAMPLE_RATE : rate
}
