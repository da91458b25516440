import type { ImageSize } from './image-size.ts'
import { findImageType } from './image-type.ts'

/**
 * Characters of base64 that are read of an image: 96 KiB, which hold the longest segment of a JPEG file (64 KiB, of Exif) and a
 * colour profile.
 */
const HEAD = 131_072
/** The most parts of a file that are followed to its size: programs write up to a dozen. */
const MAX_PARTS = 64
/** The most blocks of a GIF file: 96 KiB have 384 full ones. */
const MAX_BLOCKS = 1_000
const DATA_URL = /^data:image\/[a-z0-9.+-]{1,64};base64,/i

/**
 * Returns the size of an image in a data URL by its header, of which it reads 96 KiB. undefined: it is no such URL,
 * or its bytes leave a doubt about what a decoder makes of them. Since a reservation relies on the size, only headers count by which
 * every decoder goes: a file with two sizes, with frames, or with base64 that decoders read in more than one way has none.
 *
 * Sources: the PNG specification (W3C, 5.6 and 11.2.1), JPEG (ITU-T T.81, B.2), GIF89a (CompuServe, 18 to 20) and the WebP container
 * with its two codecs (RFC 9649, RFC 6386 section 9.1).
 */
export function readImageSize(url: string): ImageSize | undefined {
  const start = DATA_URL.exec(url.slice(0, 100))?.[0].length
  if (start === undefined || url.indexOf(',', start) !== NOT_FOUND) return undefined
  const head = url.slice(start, start + HEAD)
  const bytes = Buffer.from(head, 'base64')
  if (bytes.toString('base64') !== head) return undefined
  const size = readSize(bytes)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

const NOT_FOUND = -1

/** All readers may read beyond the end: what is missing there has no size. */
function readSize(bytes: Buffer): ImageSize | undefined {
  try {
    switch (findImageType(bytes)) {
      case 'image/png':
        return readPng(bytes)
      case 'image/jpeg':
        return readJpeg(bytes)
      case 'image/gif':
        return readGif(bytes)
      case 'image/webp':
        return readWebp(bytes)
      default:
        return undefined
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Follows the chunks up to the pixels: some decoders obey the last IHDR. */
function readPng(bytes: Buffer): ImageSize | undefined {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  for (let at = 8, parts = 0; parts < MAX_PARTS; at += 12 + bytes.readUInt32BE(at), parts++) {
    // Reads the length too, so that a chunk without a type ends the loop.
    const name = bytes.readUInt32BE(at + 4)
    const isFirst = at === 8
    if (isFirst !== (name === PNG_HEADER) || name === PNG_ANIMATION) return undefined
    if (isFirst && bytes.readUInt32BE(at) !== 13) return undefined
    if (name === PNG_PIXELS) return { width, height }
  }
  return undefined
}

const PNG_HEADER = Buffer.from('IHDR').readUInt32BE()
const PNG_ANIMATION = Buffer.from('acTL').readUInt32BE()
const PNG_PIXELS = Buffer.from('IDAT').readUInt32BE()

/** Follows the segments up to the first scan: some decoders obey the last frame header. */
function readJpeg(bytes: Buffer): ImageSize | undefined {
  let size: ImageSize | undefined
  for (let at = 2, parts = 0; parts < MAX_PARTS; at += 2 + bytes.readUInt16BE(at + 2), parts++) {
    if (bytes.readUInt8(at) !== 0xff) return undefined
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xda) return size
    if (isFrame(marker)) {
      if (size !== undefined) return undefined
      size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    } else if (!isSkipped(marker)) return undefined
  }
  return undefined
}

/** Baseline, extended and progressive, which all decoders read. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xc2
}

/** Segments that every decoder skips by their length before the first scan: tables, comments and those of applications. */
function isSkipped(marker: number): boolean {
  return [0xc4, 0xdb, 0xdd, 0xfe].includes(marker) || (marker & 0xf0) === 0xe0
}

/** Returns the larger of screen and frame, of a file with one frame that is read to its end. */
function readGif(bytes: Buffer): ImageSize | undefined {
  let size: ImageSize | undefined
  let at = 13 + toTableBytes(bytes.readUInt8(10))
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const kind = bytes.readUInt8(at)
    if (kind === 0x3b) return size
    if (kind === 0x21) at = skipBlocks(bytes, at + 2)
    else if (kind === 0x2c && size === undefined) {
      size = {
        width: Math.max(bytes.readUInt16LE(6), bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5)),
        height: Math.max(bytes.readUInt16LE(8), bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7)),
      }
      at = skipBlocks(bytes, at + 11 + toTableBytes(bytes.readUInt8(at + 9)))
    } else return undefined
  }
  return undefined
}

/** The bytes of a colour table, by the flags that say whether there is one. */
function toTableBytes(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0
}

/** Returns the position behind the blocks; behind the file if there are too many. */
function skipBlocks(bytes: Buffer, start: number): number {
  let at = start
  for (let blocks = 0; blocks < MAX_BLOCKS; blocks++) {
    const length = bytes.readUInt8(at)
    at += 1 + length
    if (length === 0) return at
  }
  return bytes.length
}

/** Returns the size of the pixels, which that of the canvas must equal. */
function readWebp(bytes: Buffer): ImageSize | undefined {
  let canvas: ImageSize | undefined
  let at = 12
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const name = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const data = at + 8
    const size = readWebpPixels(bytes, name, data)
    if (size !== undefined) {
      const isWhole = canvas === undefined || (canvas.width === size.width && canvas.height === size.height)
      return isWhole ? size : undefined
    }
    if (at === 12) {
      if (name !== 'VP8X' || bytes.readUInt8(data) & 2) return undefined
      canvas = { width: bytes.readUIntLE(data + 4, 3) + 1, height: bytes.readUIntLE(data + 7, 3) + 1 }
    } else if (name !== 'ICCP' && name !== 'ALPH') return undefined
    at = data + length + (length & 1)
  }
  return undefined
}

/** Returns the size of a key frame of VP8, or of an image in VP8L; undefined: the chunk is neither. */
function readWebpPixels(bytes: Buffer, name: string, at: number): ImageSize | undefined {
  if (name === 'VP8L' && bytes.readUInt8(at) === 0x2f) {
    const bits = bytes.readUInt32LE(at + 1)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  const isKeyFrame = name === 'VP8 ' && !(bytes.readUInt8(at) & 1) && bytes.readUIntBE(at + 3, 3) === 0x9d012a
  if (!isKeyFrame) return undefined
  return { width: bytes.readUInt16LE(at + 6) & 0x3fff, height: bytes.readUInt16LE(at + 8) & 0x3fff }
}
