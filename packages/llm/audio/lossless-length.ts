/** Samples a second where a file does not say: the fewest that is usual. */
const FEWEST_SAMPLES = 8_000
const OPUS_SAMPLES = 48_000
/** The shortest header of a page of Ogg. */
const PAGE_HEADER_BYTES = 27
const NOT_FOUND = -1

/**
 * Returns the seconds of a FLAC file, in which hours of silence take few bytes; undefined for any other file. By its frames, which
 * a decoder believes, and by its header, whichever is more.
 */
export function findFlacSeconds(bytes: Buffer): number | undefined {
  if (bytes.length < 42 || bytes.toString('latin1', 0, 4) !== 'fLaC') return undefined
  const given = bytes.readUIntBE(18, 3) >> 4
  const rate = given === 0 ? FEWEST_SAMPLES : given
  const said = ((bytes[21] as number) & 15) * 2 ** 32 + bytes.readUInt32BE(22)
  return Math.max(said / rate, addAllFrames(bytes, rate))
}

/** Returns the seconds of FLAC that another container, such as Matroska or MP4, may hold. */
export function findHeldFlacSeconds(bytes: Buffer): number {
  return addAllFrames(bytes, FEWEST_SAMPLES)
}

function addAllFrames(bytes: Buffer, rate: number): number {
  return FRAME_STARTS.reduce((sum, start) => sum + addFrames(bytes, start, rate), 0)
}

/** A frame begins with 14 bits of which all but the last are set, and says in the 16th whether frames have one length. */
const FRAME_STARTS = [Buffer.from([0xff, 0xf8]), Buffer.from([0xff, 0xf9])]
/** The most frame starts that are examined: some hours of audio. What follows is counted as frames of the largest size. */
const MAX_STARTS = 50_000
const MIN_FRAME_BYTES = 10
const MAX_SAMPLES = 65_536

/** The seconds of all frames with such a start. */
function addFrames(bytes: Buffer, start: Buffer, rate: number): number {
  let seconds = 0
  let starts = 0
  for (
    let at = bytes.indexOf(start);
    at !== NOT_FOUND && at + 5 < bytes.length;
    at = bytes.indexOf(start, at + 2)
  ) {
    if (++starts > MAX_STARTS)
      return (
        seconds + (((bytes.length - at) / MIN_FRAME_BYTES) * MAX_SAMPLES) / Math.min(rate, FEWEST_SAMPLES)
      )
    seconds += readFrame(bytes, at, rate)
  }
  return seconds
}

/** Samples a second by their code, of frames that do not leave it to the file's header or write it out. */
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]

/** The seconds of the frame that may begin at `at`: 0 if the checksum of its header is wrong. */
function readFrame(bytes: Buffer, at: number, rateOfFile: number): number {
  const codes = bytes[at + 2] as number
  const [ofSize, ofRate] = [codes >> 4, codes & 15]
  const numberAt = at + 4
  const sizeAt = numberAt + findNumberLength(bytes[numberAt] as number)
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
function findNumberLength(first: number): number {
  return first < 0x80 ? 1 : Math.max(1, Math.clz32(~(first << 24)))
}

/** The CRC-8 of a frame's header. */
function toChecksum(bytes: Buffer, start: number, end: number): number {
  let crc = 0
  for (let at = start; at < end; at++) {
    crc ^= bytes[at] as number
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1
  }
  return crc
}

/** Returns the seconds of an Ogg file by the largest position of its pages; undefined for any other file. */
export function findOggSeconds(bytes: Buffer): number | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'OggS') return undefined
  let samples = 0
  for (
    let at = 0;
    at !== NOT_FOUND && at + 14 <= bytes.length;
    at = bytes.indexOf('OggS', at + PAGE_HEADER_BYTES, 'latin1')
  ) {
    const position = bytes.readUInt32LE(at + 6) + bytes.readInt32LE(at + 10) * 2 ** 32
    samples = Math.max(samples, position)
  }
  return samples / findOggRate(bytes.subarray(0, 128))
}

/** Returns the sample rate by the codec that the first page names. */
function findOggRate(head: Buffer): number {
  if (head.includes('OpusHead', 0, 'latin1')) return OPUS_SAMPLES
  const vorbis = head.indexOf('\u0001vorbis', 0, 'latin1')
  const flac = head.indexOf('fLaC', 0, 'latin1')
  const rate =
    vorbis !== NOT_FOUND && vorbis + 16 <= head.length
      ? head.readUInt32LE(vorbis + 12)
      : flac !== NOT_FOUND && flac + 21 <= head.length
        ? head.readUIntBE(flac + 18, 3) >> 4
        : 0
  return rate === 0 ? FEWEST_SAMPLES : rate
}
