import { crc32 } from 'node:zlib'
import { ChunkBuffer } from './chunk-buffer.ts'
import type { SseEvent, SseParser } from './sse.ts'

/** Total length and headers' length, then the checksum of the two. */
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** AWS allows no more of them. 110,000 in a frame of a MiB took 12 to 25 ms. */
const MAX_HEADERS_BYTES = 128 * 1024

/** The length of a header's value in bytes, by type. A value of type 6 or 7 states its own length. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const BYTES = 6
const STRING = 7

/** The stream is not what the format says: nothing after it can be trusted. */
export class EventStreamError extends Error {
  override readonly name = 'EventStreamError'
}

/**
 * Reads AWS's event stream (`application/vnd.amazon.eventstream`) from bytes as they arrive; both checksums of each
 * frame are checked. A frame's `event` is its `:event-type`, and `exception:<type>` where it tells of an error; its
 * `data` is the payload, of an error without one `{ "message": … }`. Throws EventStreamError, after which it is of no use.
 */
export function openAwsEventStreamParser(
  onEvent: (event: SseEvent) => void,
  { maxEventBytes = 1024 * 1024 }: { readonly maxEventBytes?: number } = {},
): SseParser {
  return new Parser(onEvent, maxEventBytes)
}

/** The length of the whole frames at the start of a chunk that end at the limit or before, by the lengths they tell. */
export function measureAwsEvents(chunk: Buffer, limit: number): number {
  let at = 0
  while (at + PRELUDE_BYTES <= limit) {
    const total = chunk.readUInt32BE(at)
    if (total < PRELUDE_BYTES + CHECKSUM_BYTES || at + total > limit) break
    at += total
  }
  return at
}

/** The number of frames in a chunk of whole ones. 0: it has something else. */
export function countAwsEvents(chunk: Buffer): number {
  let events = 0
  let at = 0
  while (at + PRELUDE_BYTES <= chunk.length) {
    const total = chunk.readUInt32BE(at)
    if (total < PRELUDE_BYTES + CHECKSUM_BYTES) return 0
    at += total
    events++
  }
  return at === chunk.length ? events : 0
}

class Parser implements SseParser {
  private readonly onEvent: (event: SseEvent) => void
  private readonly maxEventBytes: number
  /** The begun frame's bytes of former chunks. */
  private readonly pending = new ChunkBuffer()
  /** The length of the frame that has begun; 0: not known yet. */
  private total = 0

  constructor(onEvent: (event: SseEvent) => void, maxEventBytes: number) {
    this.onEvent = onEvent
    this.maxEventBytes = maxEventBytes
  }

  push(chunk: Buffer): void {
    // Joined once for each frame, not for each chunk of it.
    if (this.pending.size + chunk.length < Math.max(this.total, PRELUDE_BYTES)) return this.pending.add(chunk)
    const bytes = this.pending.take(chunk)
    let at = 0
    while (bytes.length - at >= PRELUDE_BYTES) {
      this.total = readPrelude(bytes, at, this.maxEventBytes)
      if (bytes.length - at < this.total) break
      const frame = bytes.subarray(at, at + this.total)
      at += this.total
      this.total = 0
      this.onEvent(readFrame(frame))
    }
    this.pending.add(bytes.subarray(at))
  }

  hasPartial(): boolean {
    return this.pending.size > 0
  }

  end(): void {
    if (this.pending.size > 0) throw new EventStreamError('the stream ends within a frame')
  }
}

/** The whole frame's length. */
function readPrelude(bytes: Buffer, at: number, maxEventBytes: number): number {
  const total = bytes.readUInt32BE(at)
  const headers = bytes.readUInt32BE(at + 4)
  // First of all, lest a broken length be waited for.
  if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) {
    throw new EventStreamError("a frame's prelude has a wrong checksum")
  }
  if (total > maxEventBytes) throw new EventStreamError(`a frame is larger than ${maxEventBytes} bytes`)
  if (headers > MAX_HEADERS_BYTES) {
    throw new EventStreamError(`a frame has headers of more than ${MAX_HEADERS_BYTES} bytes`)
  }
  if (headers > total - PRELUDE_BYTES - CHECKSUM_BYTES || total < PRELUDE_BYTES + CHECKSUM_BYTES) {
    throw new EventStreamError("a frame's lengths contradict each other")
  }
  return total
}

function readFrame(frame: Buffer): SseEvent {
  const end = frame.length - CHECKSUM_BYTES
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) {
    throw new EventStreamError('a frame has a wrong checksum')
  }
  const payloadStart = PRELUDE_BYTES + frame.readUInt32BE(4)
  const headers = readHeaders(frame, payloadStart)
  const data = frame.toString('utf8', payloadStart, end)
  switch (headers.get(':message-type')) {
    case 'exception':
      return { event: `exception:${headers.get(':exception-type') ?? ''}`, data, raw: frame }
    case 'error': {
      const message = headers.get(':error-message') ?? ''
      const event = `exception:${headers.get(':error-code') ?? ''}`
      return { event, data: data === '' ? JSON.stringify({ message }) : data, raw: frame }
    }
    default:
      return { event: headers.get(':event-type') ?? '', data, raw: frame }
  }
}

/** Headers that are texts; the others are passed over. */
function readHeaders(frame: Buffer, end: number): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let at = PRELUDE_BYTES
  while (at < end) {
    const nameStart = at + 1
    const nameEnd = nameStart + (frame[at] as number)
    const type = frame[nameEnd] as number
    let valueStart = nameEnd + 1
    let length = VALUE_BYTES[type]
    if (type === STRING || type === BYTES) {
      if (valueStart + 2 > end) throw new EventStreamError("a frame's header is cut off")
      length = frame.readUInt16BE(valueStart)
      valueStart += 2
    }
    if (length === undefined) throw new EventStreamError('a frame has a header of an unknown type')
    at = valueStart + length
    if (at > end) throw new EventStreamError("a frame's header is cut off")
    if (type === STRING) {
      headers.set(frame.toString('utf8', nameStart, nameEnd), frame.toString('utf8', valueStart, at))
    }
  }
  return headers
}
