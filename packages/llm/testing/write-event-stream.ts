import { crc32 } from 'node:zlib'

/** One frame of AWS's event stream with text headers, as a provider sends it. */
export function writeFrame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const fields = Object.entries(headers).flatMap(([name, value]) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(Buffer.byteLength(value))
    return [Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]
  })
  const head = Buffer.concat(fields)
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const whole = Buffer.concat([prelude, head, body])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(whole))
  return Buffer.concat([whole, checksum])
}

export function writeEvent(type: string, payload: unknown): Buffer {
  return writeFrame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload,
  )
}

export function writeException(type: string, message: string): Buffer {
  return writeFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  )
}
