import { crc32 } from 'node:zlib'
import type { JsonObject } from '../spec.ts'

/** A header whose value is text. */
const STRING = 7
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4

/**
 * One frame of AWS's event stream (`application/vnd.amazon.eventstream`): lengths and their checksum, headers of text,
 * the payload, the checksum of all. The other side of openAwsEventStreamParser.
 */
export function encodeAwsFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const fields = Object.entries(headers)
  let headBytes = 0
  for (const [name, value] of fields) headBytes += 4 + Buffer.byteLength(name) + Buffer.byteLength(value)
  const bodyBytes = Buffer.byteLength(payload)
  const frame = Buffer.allocUnsafe(PRELUDE_BYTES + headBytes + bodyBytes + CHECKSUM_BYTES)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headBytes, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  let at = PRELUDE_BYTES
  for (const [name, value] of fields) {
    const nameBytes = frame.write(name, at + 1)
    at = frame.writeUInt8(nameBytes, at) + nameBytes
    at = frame.writeUInt8(STRING, at)
    const valueBytes = frame.write(value, at + 2)
    at = frame.writeUInt16BE(valueBytes, at) + valueBytes
  }
  at += frame.write(payload, at)
  frame.writeUInt32BE(crc32(frame.subarray(0, at)), at)
  return frame
}

export function encodeAwsEvent(type: string, payload: JsonObject): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return encodeAwsFrame(headers, JSON.stringify(payload))
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
