import { describe, expect, test } from 'vitest'
import { readImageSize } from './read-image-size.ts'

const toUrl = (data: string): string => `data:image/png;base64,${data}`
const read = (...parts: readonly (Buffer | string)[]) =>
  readImageSize(
    toUrl(
      Buffer.concat(
        parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
      ).toString('base64'),
    ),
  )

const SIZE = { width: 9, height: 6 }
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAkAAAAGCAIAAACepSOSAAAAEklEQVR4nGP8z4ATMOGWorscAKrxAQuWkvMmAAAAAElFTkSuQmCC'
const GIF = 'R0lGODdhCQAGAIEAAP8AAAAAAAAAAAAAACwAAAAACQAGAAAIDgABCBxIsKDBgwgTJgwIADs='
const WEBP = 'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoJAAYAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA='
const WEBP_LOSSLESS = 'UklGRhwAAABXRUJQVlA4TA8AAAAvCEABAAcQ/Y/+ByKi/wEA'
const WEBP_ALPHA =
  'UklGRmAAAABXRUJQVlA4WAoAAAAQAAAACAAABQAAQUxQSAoAAAABB1CoiAhERP8DVlA4IDAAAADQAQCdASoJAAYAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA='
const GIF_ANIMATED =
  'R0lGODdhCQAGAIEAAP8AAAAAAAAAAAAAACwAAAAACQAGAAAIDgABCBxIsKDBgwgTJgwIACH5BAEAAAEALAAAAAAJAAYAgQAA/wAAAAAAAAAAAAgOAAEIHEiwoMGDCBMmDAgAOw=='

test.each([
  ['PNG', PNG],
  ['GIF', GIF],
  ['WebP', WEBP],
  ['lossless WebP', WEBP_LOSSLESS],
  ['WebP with a canvas', WEBP_ALPHA],
])('reads the size of a %s file, whatever type its address names', (_name, data) => {
  expect(readImageSize(toUrl(data))).toEqual(SIZE)
  expect(readImageSize(`DATA:image/jpeg;base64,${data}`)).toEqual(SIZE)
})

describe('has no size, since decoders may differ about it:', () => {
  test.each([
    ['an address', 'https://a.example/a.png'],
    ['nothing', ''],
    ['another kind of data', `data:application/pdf;base64,${PNG}`],
    ['data that is not in base64', `data:image/png,${PNG}`],
    ['base64 behind a parameter', `data:image/png;a=b;base64,${PNG}`],
    ['base64 with a line break, which moves what follows', toUrl(`${PNG.slice(0, 40)}\n${PNG.slice(40)}`)],
    ['base64 for addresses', toUrl(WEBP.replaceAll('/', '_'))],
    ['base64 without its padding', toUrl(GIF.replaceAll('=', ''))],
    ['two images, of which a decoder may take either', toUrl(`${PNG},${PNG}`)],
    ['an animated GIF', toUrl(GIF_ANIMATED)],
  ])('%s', (_what, url) => {
    expect(readImageSize(url)).toBeUndefined()
  })
})

describe('PNG', () => {
  const chunk = (name: string, data: Buffer = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(data.length)
    head.write(name, 4, 'latin1')
    return Buffer.concat([head, data, Buffer.alloc(4)])
  }
  const header = (width: number, height: number): Buffer => {
    const data = Buffer.alloc(13)
    data.writeUInt32BE(width)
    data.writeUInt32BE(height, 4)
    return chunk('IHDR', data)
  }
  const START = '\x89PNG\r\n\x1a\n'
  const profile = chunk('iCCP', Buffer.alloc(3_000))

  test('is read behind a colour profile', () => {
    expect(read(START, header(2_048, 768), profile, chunk('IDAT'))).toEqual({ width: 2_048, height: 768 })
  })

  test.each([
    ['a second header', [header(1, 1), header(2_048, 768), chunk('IDAT')]],
    ['a second header behind others', [header(1, 1), profile, header(2_048, 768), chunk('IDAT')]],
    ['another chunk before the header', [chunk('CgBI'), header(1, 1), chunk('IDAT')]],
    ['a longer header', [chunk('IHDR', Buffer.alloc(14, 1)), chunk('IDAT')]],
    ['frames', [header(1, 1), chunk('acTL', Buffer.alloc(8)), chunk('IDAT')]],
    ['no pixels in what is read', [header(1, 1), chunk('tEXt', Buffer.alloc(100_000)), chunk('IDAT')]],
    ['no width', [header(0, 1), chunk('IDAT')]],
    ['its first bytes alone', []],
  ])('has no size with %s', (_what, chunks) => {
    expect(read(START, ...chunks)).toBeUndefined()
  })
})

describe('JPEG', () => {
  const segment = (marker: number, data: Buffer): Buffer => {
    const head = Buffer.from([0xff, marker, 0, 0])
    head.writeUInt16BE(data.length + 2, 2)
    return Buffer.concat([head, data])
  }
  const frame = (width: number, height: number, marker = 0xc0): Buffer => {
    const data = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
    data.writeUInt16BE(height, 1)
    data.writeUInt16BE(width, 3)
    return segment(marker, data)
  }
  const [START, TABLE, SCAN] = ['\xff\xd8', segment(0xdb, Buffer.alloc(65)), '\xff\xda\0\x08']

  test.each([0xc0, 0xc1, 0xc2])('is read by its frame header, of whatever kind: %i', marker => {
    // A thumbnail in the segment of Exif has a frame header of its own.
    const exif = segment(0xe1, Buffer.concat([Buffer.alloc(65_000), frame(160, 120), Buffer.alloc(500)]))
    const bytes = [START, exif, TABLE, frame(4_032, 3_024, marker), segment(0xc4, Buffer.alloc(30)), SCAN]
    expect(read(...bytes)).toEqual({ width: 4_032, height: 3_024 })
  })

  test.each([
    ['a second frame header', [frame(1, 1), frame(2_048, 768), SCAN]],
    ['a second frame header of another kind', [frame(1, 1), frame(2_048, 768, 0xc2), SCAN]],
    ['a frame header of arithmetic coding', [frame(1, 1, 0xc9), SCAN]],
    ['a segment that some decoders do not skip', [segment(0xcc, frame(2_048, 768)), frame(1, 1), SCAN]],
    ['a marker without a length', ['\xff\x01', frame(1, 1), SCAN]],
    ['bytes between segments', ['\0', frame(1, 1), SCAN]],
    ['a segment of no length', ['\xff\xe0\0\0', frame(1, 1), SCAN]],
    ['a height that follows the scan', [frame(1, 0), SCAN]],
    [
      'no scan in what is read',
      [frame(1, 1), segment(0xfe, Buffer.alloc(60_000)), segment(0xfe, Buffer.alloc(60_000)), SCAN],
    ],
    ['no frame header', [TABLE, SCAN]],
  ])('has no size with %s', (_what, parts) => {
    expect(read(START, ...parts)).toBeUndefined()
  })
})

describe('GIF', () => {
  const bytes = Buffer.from(GIF, 'base64')

  test('has the size of its frame where that is larger than its screen', () => {
    const large = Buffer.from(bytes)
    large.writeUInt16LE(2_000, 25 + 1)
    large.writeUInt16LE(700, 25 + 7)
    expect(read(large)).toEqual({ width: 2_009, height: 700 })
  })

  test('is read behind extensions, and has no size without its end', () => {
    expect(read(bytes.subarray(0, 25), '!\xfe\x03abc\x01d\0', bytes.subarray(25))).toEqual(SIZE)
    expect(read(bytes.subarray(0, -1))).toBeUndefined()
    expect(read(bytes.subarray(0, -1), '\0;')).toBeUndefined()
  })
})

describe('WebP', () => {
  const alpha = Buffer.from(WEBP_ALPHA, 'base64')
  const changed = (at: number, value: number): Buffer => {
    const copy = Buffer.from(alpha)
    copy[at] = value
    return copy
  }

  test('has no size where the canvas has another size than the pixels', () => {
    expect(read(changed(24, 7))).toBeUndefined()
    expect(read(changed(27, 4))).toBeUndefined()
  })

  test('has no size with frames, with a chunk that is not known before the pixels, and with no key frame', () => {
    expect(read(changed(20, 0x12))).toBeUndefined()
    expect(read(changed(30, 0x42))).toBeUndefined()
    const plain = Buffer.from(WEBP, 'base64')
    plain[20] = (plain[20] as number) | 1
    expect(read(plain)).toBeUndefined()
  })
})

test('a file of more parts than programs write has no size, so that each image is read in a few steps', () => {
  const start = Buffer.from(PNG, 'base64')
  const text = Buffer.from('\0\0\0\0tEXt\0\0\0\0', 'latin1')
  const withTexts = (count: number) =>
    read(start.subarray(0, 33), Buffer.concat(Array.from({ length: count }, () => text)), start.subarray(33))
  expect(withTexts(10)).toEqual(SIZE)
  expect(withTexts(100)).toBeUndefined()
  const gif = Buffer.from(GIF, 'base64')
  const comment = (blocks: number): Buffer =>
    Buffer.concat([Buffer.from('!\xfe', 'latin1'), Buffer.alloc(blocks * 2, '\x01x'), Buffer.alloc(1)])
  const withComment = (blocks: number) => read(gif.subarray(0, 25), comment(blocks), gif.subarray(25))
  expect(withComment(10)).toEqual(SIZE)
  expect(withComment(2_000)).toBeUndefined()
})
