import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxSeconds } from './audio-length.ts'

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

describe('maxSeconds', () => {
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
    ['WAV', Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1')],
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

  test('reads a FLAC file that consists of starts of frames in little time', () => {
    const startedAt = performance.now()
    expect(maxSeconds(flac(8_000, 1, Buffer.alloc(25_000_000, '\xff\xf8', 'latin1')))).toBeGreaterThan(1e6)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
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
