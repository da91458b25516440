import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../json/run-at-once.ts'
import { measureLongestStep, measureMs } from '../testing/measure-ms.ts'
import { measureSeconds } from './audio-length.ts'

const maxSeconds = (file: Buffer): number => runAtOnce(measureSeconds(file))

/** A frame header of 65,536 samples, number 0, with its checksum, and a constant subframe. */
const FRAME = Buffer.from([0xff, 0xf8, 0x70, 0x08, 0x00, 0xff, 0xff, 0x3e, 0x00, 0x00, 0x00, 0x00, 0x00])

function flac(rate: number, samples: number, ...frames: Buffer[]): Buffer {
  const info = Buffer.alloc(42)
  info.write('fLaC', 0, 'latin1')
  info.writeUInt32BE(0x80000022, 4)
  info.writeUIntBE(rate * 16, 18, 3)
  info[21] = Math.floor(samples / 2 ** 32)
  info.writeUInt32BE(samples % 2 ** 32, 22)
  return Buffer.concat([info, ...frames])
}

function page(head: string, position: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('OggS', 0, 'latin1')
  bytes.writeBigInt64LE(BigInt(position), 6)
  bytes.write(head, 28, 'latin1')
  return bytes
}

const JUNK = Buffer.from('JUNK\x03\0\0\0abc\0bext\x02\0\0\0ab', 'latin1')
/** The end of the GUID of a format that has a number, behind that number. */
const GUID_END = Buffer.from('00001000800000aa00389b71', 'hex')

/** The head of a WAV file of 16-bit samples, 16,000 a second. */
function wavHead(tag: number, { before = Buffer.alloc(0), isExtensible = false, used = 16 } = {}): Buffer {
  const format = Buffer.alloc(isExtensible ? 28 : 16)
  format.writeUInt16LE(isExtensible ? 0xfffe : tag, 0)
  format.writeUInt16LE(1, 2)
  format.writeUInt32LE(16_000, 4)
  format.writeUInt16LE(16, 14)
  if (isExtensible) {
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(used, 18)
    format.writeUInt32LE(tag, 24)
  }
  const chunk = Buffer.concat(isExtensible ? [format, GUID_END] : [format])
  const riff = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1')
  return Buffer.concat([riff, before, Buffer.from('fmt \0\0\0\0'), chunk, Buffer.from('data\0\0\0\0')]).fill(
    chunk.length,
    riff.length + before.length + 4,
    riff.length + before.length + 5,
  )
}

/** Quiet noise in 16-bit samples: of each 30 samples one is -8 or -7, whose bytes begin like a frame behind a negative sample. */
function noise(samples: number): Buffer {
  const bytes = Buffer.alloc(2 * samples)
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  for (let at = 0; at < bytes.length; at += 2) {
    bytes.writeInt16LE(Math.round(20 * (random() + random() + random() + random() - 2)), at)
  }
  return bytes
}

const NOISE = noise(240 * 16_000)

const bound = (bytes: Buffer): number => Math.ceil(bytes.length / 750)

describe('measureSeconds', () => {
  test('returns for a FLAC file at least what its header states', () => {
    expect(maxSeconds(flac(8_000, 8_000 * 50_000))).toBe(50_000)
    expect(maxSeconds(flac(44_100, 2 ** 33))).toBe(Math.ceil(2 ** 33 / 44_100))
  })

  test('returns for a FLAC file at least what its frames have, whatever its header states', () => {
    const frames = Array.from({ length: 1_000 }, () => FRAME)
    // Their lengths are added up as fractions of seconds.
    expect(maxSeconds(flac(8_000, 1, ...frames))).toBeOneOf([8_192, 8_193])
  })

  test.each([
    ['Matroska', Buffer.from('1a45dfa3', 'hex')],
    ['MP4', Buffer.from('\0\0\0\x18ftypisom', 'latin1')],
    ['WAV', wavHead(0xf1ac)],
    ['WAV with a format that is unknown', wavHead(0x1234)],
    ['WAV with FLAC in an extensible format', wavHead(0xf1ac, { isExtensible: true })],
    ['WAV with a format behind other chunks', wavHead(0xf1ac, { before: JUNK })],
    ['WAV without a format', wavHead(0xf1ac).subarray(0, 12)],
    [
      'WAV with a format behind too many chunks',
      wavHead(1, { before: Buffer.alloc(8 * 100, 'JUNK\0\0\0\0') }),
    ],
    ['AVI', Buffer.from('RIFF\0\0\0\0AVI LIST', 'latin1')],
    ['Ogg', page('\x7fFLAC', 8_000)],
    ['no container', Buffer.alloc(0)],
    ['a tag that is longer than the file', Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1')],
    ['more than eight tags', Buffer.alloc(90, 'ID3\x04\0\0\0\0\0\0', 'latin1')],
  ])('returns for %s at least what the frames of FLAC in it have', (_, head) => {
    const frames = Array.from({ length: 1_000 }, () => FRAME)
    expect(maxSeconds(Buffer.concat([head, ...frames]))).toBeOneOf([8_192, 8_193])
  })

  test('reads a file behind its tags', () => {
    const tag = (size: number, flags = 0): Buffer =>
      Buffer.concat([
        Buffer.from(['I', 'D', '3'].map(each => each.charCodeAt(0))),
        Buffer.from([4, 0, flags, 0, 0, size >> 7, size & 127]),
        Buffer.alloc(size),
      ])
    const file = flac(8_000, 8_000 * 50_000)
    expect(maxSeconds(Buffer.concat([tag(0), file]))).toBe(50_000)
    expect(maxSeconds(Buffer.concat([tag(300), tag(5), file]))).toBe(50_000)
    expect(maxSeconds(Buffer.concat([tag(5, 16), Buffer.alloc(10), file]))).toBe(50_000)
    expect(maxSeconds(tag(127))).toBe(1)
    expect(maxSeconds(Buffer.from('ID3'))).toBe(1)
  })

  test.each([
    ['of a size that decoders take for none', '\xff\xff\xff\xff'],
    ['whose size has one wrong byte', '\x7f\x7f\x7f\x80'],
    ['that is longer than the file', '\x7f\x7f\x7f\x7f'],
  ])('counts all bytes of a file with a tag %s', (_, size) => {
    const file = Buffer.concat([Buffer.from(`ID3\x04\0\0${size}`, 'latin1'), Buffer.alloc(1_000_000, 1)])
    expect(maxSeconds(file)).toBe(bound(file))
  })

  test('reads FLAC behind what decoders take for no tag', () => {
    const tag = Buffer.from('ID3\x04\0\0\x80\0\0\x05', 'latin1')
    expect(maxSeconds(Buffer.concat([tag, flac(8_000, 8_000 * 50_000)]))).toBe(1)
    expect(maxSeconds(Buffer.concat([tag, FRAME, FRAME]))).toBe(17)
  })

  test('counts all bytes of a WAV file behind a tag, which some decoders take for MP3', () => {
    const tag = Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1')
    const file = Buffer.concat([tag, wavHead(1), Buffer.alloc(100_000)])
    expect(maxSeconds(file)).toBe(bound(file))
  })

  test.each([
    ['PCM', wavHead(1)],
    ['PCM behind other chunks', wavHead(1, { before: JUNK })],
    ['PCM in an extensible format', wavHead(1, { isExtensible: true })],
    ['PCM in an extensible format that leaves its bits out', wavHead(1, { isExtensible: true, used: 0 })],
  ])(
    'returns the length of a WAV file with %s of quiet noise, in which bytes look like frames',
    (_, head) => {
      expect(NOISE.indexOf('fff8', 0, 'hex')).toBeGreaterThan(0)
      expect(maxSeconds(Buffer.concat([head, NOISE]))).toBe(241)
      expect(maxSeconds(Buffer.concat([head, Buffer.alloc(32_000, FRAME)]))).toBe(2)
    },
  )

  test('returns the length of a WAV file by the bits of its samples that are in use', () => {
    const head = wavHead(1, { isExtensible: true, used: 8 })
    expect(maxSeconds(Buffer.concat([head, Buffer.alloc(16_000 * 10)]))).toBe(11)
  })

  test.each([
    ['PCM', 1, 200],
    ['floats', 3, 200],
    ['A-law', 6, 100],
    ['ADPCM', 2, 50],
  ])('believes a rate below that of any codec: %s', (_, tag, bytesPerSecond) => {
    const head = wavHead(tag)
    head.writeUInt32LE(100, 24)
    const file = Buffer.concat([head, Buffer.alloc(100_000)])
    expect(maxSeconds(file)).toBe(Math.ceil(file.length / bytesPerSecond))
  })

  test.each([2, 3, 6, 7, 0x11])('looks for no FLAC among the samples of format %i', tag => {
    const file = Buffer.concat([wavHead(tag), ...Array.from({ length: 1_000 }, () => FRAME)])
    expect(maxSeconds(file)).toBe(bound(file))
  })

  test('counts quiet noise in Matroska by its bytes', () => {
    const file = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), NOISE])
    expect(maxSeconds(file)).toBe(bound(file))
  })

  test('counts frames with a right checksum alone, and more than are examined as the largest', () => {
    const wrong = Buffer.alloc(60_000 * 13, Buffer.from(FRAME).fill(1, 7, 8))
    expect(maxSeconds(Buffer.concat([wrong, FRAME]))).toBe(bound(wrong) + 1)
    const right = Buffer.alloc(60_000 * 13, FRAME)
    expect(maxSeconds(right)).toBeGreaterThan(60_000 * 8)
  })

  test('finds frames at every place', () => {
    const all = Buffer.alloc(64)
    for (let at = 0; at + FRAME.length <= 40; at++) {
      for (let start = 0; start < 2; start++) {
        all.fill(0)
        FRAME.copy(all, start + at)
        expect(maxSeconds(all.subarray(start, start + 40))).toBe(9)
      }
    }
  })

  test.each([
    ['zeros', 0],
    ['first bytes of frames', 0xff],
    ['first bytes of pages', 0x4f],
  ])('finds a frame and a page where one step ends, among %s', (_, filler) => {
    const end = 32 * 1_024
    const insert = (head: Buffer, piece: Buffer, at: number): Buffer => {
      const file = Buffer.alloc(2 * end, filler)
      head.copy(file)
      piece.copy(file, at)
      return file
    }
    for (let at = end - 40; at < end + 2; at++) {
      expect(maxSeconds(insert(flac(1, 1), FRAME, at))).toBe(65_536)
      expect(maxSeconds(insert(page('OpusHead', 0), page('', 48_000 * 7_200), at))).toBe(7_200)
    }
  })

  test.each([
    ['frames', FRAME.subarray(0, 8)],
    ['starts of frames', Buffer.from([0xff, 0xf8])],
    ['frames with wrong checksums', Buffer.from([0xff, 0xf8, 0x1e, 0, 0])],
    ['tags', Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1')],
    ['pages', Buffer.from(`OggS${'\0'.repeat(23)}`, 'latin1')],
    ['starts with valid codes', Buffer.from('fff81001', 'hex')],
    ['bytes of ones', Buffer.from([0xff])],
    ['beginnings of pages', Buffer.from('OggO')],
  ])('reads 25 MB of %s in little time, and in steps', (_, unit) => {
    const file = Buffer.alloc(25_000_000, unit)
    const times = Array.from({ length: 5 }, () =>
      measureMs(() => expect(maxSeconds(file)).toBeGreaterThanOrEqual(bound(file))),
    )
    // It takes below 150 ms on a processor of its own; others on the machine make some runs longer.
    expect(Math.min(...times)).toBeLessThan(500)
    expect(measureLongestStep(measureSeconds(file))).toBeLessThan(40)
  })

  test('leaves out of a FLAC file what only looks like a frame', () => {
    const wrong = Buffer.from(FRAME)
    wrong[7] = 1
    expect(maxSeconds(flac(8_000, 1, wrong))).toBe(1)
  })

  test('returns for an Ogg file at least its largest position', () => {
    expect(maxSeconds(Buffer.concat([page('OpusHead', 0), page('', 48_000 * 7_200), page('', 9)]))).toBe(
      7_200,
    )
    const vorbis = page('\u0001vorbis', 0)
    vorbis.writeUInt32LE(16_000, 40)
    expect(maxSeconds(Buffer.concat([vorbis, page('', 16_000 * 100)]))).toBe(100)
    expect(maxSeconds(Buffer.concat([page('other', 0), page('', -1)]))).toBe(1)
  })

  test.each(['fLaC', 'OggS'])('of any bytes behind %s is a positive number', start => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), rest => {
        const seconds = maxSeconds(Buffer.concat([Buffer.from(start), Buffer.from(rest)]))
        expect(Number.isFinite(seconds) && seconds > 0).toBe(true)
      }),
    )
  })
})
