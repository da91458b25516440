import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { JsonObject } from '../../json/json-value.ts'

/** Fields of the pattern in each direction, and pixels of a field. */
const FIELDS = 8
const SCALE = 8
const SIDE = FIELDS * SCALE
const MAX_IMAGES = 10
/** The most characters of a prompt and of an image to edit that make a difference. They are read in one go, while all other requests wait. */
const READ_CHARACTERS = 64 * 1024
/** Unix seconds: the same request is always answered alike. */
const CREATED = 1_700_000_000

/**
 * The sandbox's images, in OpenAI's wire format: a small pattern for each, the same for the same words. Whatever size is
 * asked for, it is 64 by 64 pixels.
 */
export function answerImages(body: JsonObject): JsonObject {
  const n = typeof body.n === 'number' ? Math.min(MAX_IMAGES, Math.max(1, Math.trunc(body.n))) : 1
  const seed = hashOf(JSON.stringify([body.prompt ?? '', body.images ?? null], cutText))
  return {
    created: CREATED,
    data: Array.from({ length: n }, (_, index) => ({
      b64_json: draw(hashOf(`${index}${seed.toString('hex')}`)).toString('base64'),
    })),
    output_format: 'png',
  }
}

function cutText(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, READ_CHARACTERS) : value
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** A pattern that is its own mirror, in one color on white: the digest's first bytes color it, the rest fill its fields. */
function draw(digest: Buffer): Buffer {
  const color = digest.subarray(0, 3)
  const rows: Buffer[] = []
  for (let y = 0; y < SIDE; y++) {
    // Each row begins with the filter that it was written with: none.
    const row = Buffer.alloc(1 + SIDE * 3, 0xff)
    row[0] = 0
    for (let x = 0; x < SIDE; x++) {
      const across = Math.floor(x / SCALE)
      const field = Math.min(across, FIELDS - 1 - across)
      const isFilled = ((digest[3 + Math.floor(y / SCALE)] as number) >> field) & 1
      if (isFilled === 1) color.copy(row, 1 + x * 3)
    }
    rows.push(row)
  }
  return encodePng(SIDE, SIDE, Buffer.concat(rows))
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A PNG of 8-bit RGB (RFC 2083). */
function encodePng(width: number, height: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = 2
  return Buffer.concat([
    SIGNATURE,
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', deflateSync(rows)),
    encodeChunk('IEND', Buffer.alloc(0)),
  ])
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(8 + named.length)
  chunk.writeUInt32BE(data.length, 0)
  named.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(named), 4 + named.length)
  return chunk
}
