import { crc32 } from 'node:zlib'
import type { JsonObject } from '../json/json-value.ts'

/** A header whose value is text. */
const STRING = 7
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4

/**
 * One frame of AWS's event stream (`application/vnd.amazon.eventstream`): lengths and their checksum, headers of text,
 * the payload, the checksum of all. The other side of openAwsEventStreamParser.
 */
export function encodeAwsFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  return encodeFrame(encodeHead(headers), payload)
}

/** The head of every kind of event: there are few, and each is sent often. */
const EVENT_HEADS = new Map<string, Buffer>()

export function encodeAwsEvent(type: string, payload: JsonObject): Buffer {
  let head = EVENT_HEADS.get(type)
  if (head === undefined) {
    head = encodeHead({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' })
    EVENT_HEADS.set(type, head)
  }
  return encodeFrame(head, JSON.stringify(payload))
}

/** A failure within a stream, which ends it. */
export function encodeAwsException(type: string, payload: JsonObject): Buffer {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return encodeAwsFrame(headers, JSON.stringify(payload))
}

function encodeHead(headers: Readonly<Record<string, string>>): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => {
    const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)]
    const { length } = valueBytes
    const between = Buffer.of(STRING, length >> 8, length & 0xff)
    return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, between, valueBytes])
  })
  return Buffer.concat(fields)
}

function encodeFrame(head: Buffer, payload: string): Buffer {
  const length = PRELUDE_BYTES + head.length + Buffer.byteLength(payload) + CHECKSUM_BYTES
  const frame = Buffer.allocUnsafe(length)
  frame.writeUInt32BE(length, 0)
  frame.writeUInt32BE(head.length, 4)
  frame.writeUInt32BE(sumPrelude(frame), 8)
  frame.set(head, PRELUDE_BYTES)
  frame.write(payload, PRELUDE_BYTES + head.length)
  const end = length - CHECKSUM_BYTES
  frame.writeUInt32BE(crc32(frame.subarray(0, end)), end)
  return frame
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  return sum
})

/** The checksum of the first eight bytes: for so few bytes a call into the library costs more than it saves. */
function sumPrelude(frame: Buffer): number {
  let sum = 0xffffffff
  for (let at = 0; at < 8; at++) {
    sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ (frame[at] as number)) & 0xff] as number)
  }
  return ~sum >>> 0
}
