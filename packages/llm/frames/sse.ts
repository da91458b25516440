import { isAscii } from 'node:buffer'
import { KeptText } from '../stream/kept-text.ts'
import { ChunkBuffer } from './chunk-buffer.ts'

/** One server-sent event. */
export interface SseEvent {
  /** The `event:` field; empty where none was sent. */
  readonly event: string
  /** The `data:` lines, joined by line feeds. */
  readonly data: string
  /** The event as received, blank line included: to be forwarded unchanged. */
  readonly raw: Buffer
}

export interface SseParser {
  /** Calls onEvent for every event that the chunk completes. Throws SseEventTooLargeError, after which it is of no use. */
  push(chunk: Buffer): void
  /** Returns true if an event has begun that no chunk has ended yet. Between events, chunks of whole events may bypass the parser. */
  hasPartial(): boolean
  /** The stream is over: an event without its blank line is handed out too. */
  end(): void
}

/** A provider that never ends its event would otherwise fill the memory. */
export class SseEventTooLargeError extends Error {
  override readonly name = 'SseEventTooLargeError'
  readonly maxEventBytes: number

  constructor(maxEventBytes: number) {
    super(`a server-sent event is larger than ${maxEventBytes} bytes`)
    this.maxEventBytes = maxEventBytes
  }
}

/**
 * Reads server-sent events from bytes as they arrive (WHATWG HTML, "Event stream interpretation"): line ends LF, CRLF
 * or CR, comments and `id`, `retry` skipped, an event without data not handed out. It cuts at ASCII bytes only, so a
 * character split between chunks stays whole.
 */
export function openSseParser(
  onEvent: (event: SseEvent) => void,
  { maxEventBytes = 1024 * 1024 }: { readonly maxEventBytes?: number } = {},
): SseParser {
  return new Parser(onEvent, maxEventBytes)
}

class Parser implements SseParser {
  private readonly onEvent: (event: SseEvent) => void
  private readonly maxEventBytes: number
  /** The begun event's bytes of former chunks. */
  private readonly pending = new ChunkBuffer()
  /** The begun line's bytes of former chunks. */
  private readonly pendingLine = new ChunkBuffer()
  /** The last chunk ended with CR: a LF at the start of the next belongs to it. */
  private afterCr = false
  private atStart = true
  private event = ''
  private data: string | undefined
  /** All lines of data, if there is more than one: hardly any event has. */
  private lines: KeptText | undefined

  constructor(onEvent: (event: SseEvent) => void, maxEventBytes: number) {
    this.onEvent = onEvent
    this.maxEventBytes = maxEventBytes
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    // One character a byte, because a search in a string costs least.
    const text = chunk.toString('latin1')
    const ascii = isAscii(chunk)
    let at = this.afterCr && text.startsWith('\n') ? 1 : 0
    // That line feed begins no event: the CR has ended the last one already.
    let eventStart = this.pending.size === 0 ? at : 0
    this.afterCr = false
    let lf = text.indexOf('\n', at)
    let cr = text.indexOf('\r', at)
    while (lf !== -1 || cr !== -1) {
      const lineEnd = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      let next = lineEnd + 1
      if (lineEnd === cr) {
        if (next === lf) next++
        else if (next === text.length) this.afterCr = true
        cr = text.indexOf('\r', next)
      }
      if (lf !== -1 && lf < next) lf = text.indexOf('\n', next)
      if (lineEnd > at || this.pendingLine.size > 0) {
        this.endLine(chunk, text, ascii, at, lineEnd)
      } else {
        this.endEvent(chunk, eventStart, next)
        eventStart = next
      }
      at = next
    }
    if (at < chunk.length) this.pendingLine.add(chunk.subarray(at))
    if (eventStart < chunk.length) this.hold(chunk.subarray(eventStart))
  }

  hasPartial(): boolean {
    return this.pending.size > 0 || this.afterCr
  }

  end(): void {
    const nothing = Buffer.alloc(0)
    if (this.pendingLine.size > 0) this.endLine(nothing, '', true, 0, 0)
    // No line feed follows that a CR would wait for.
    this.afterCr = false
    this.endEvent(nothing, 0, 0)
  }

  private hold(rest: Buffer): void {
    if (this.pending.size + rest.length > this.maxEventBytes)
      throw new SseEventTooLargeError(this.maxEventBytes)
    this.pending.add(rest)
  }

  private endLine(chunk: Buffer, text: string, ascii: boolean, start: number, end: number): void {
    if (this.pendingLine.size === 0) {
      this.readLine(chunk, text, ascii, start, end)
      return
    }
    const line = this.pendingLine.take(chunk.subarray(start, end))
    this.readLine(line, line.toString('latin1'), isAscii(line), 0, line.length)
  }

  private readLine(bytes: Buffer, text: string, ascii: boolean, start: number, end: number): void {
    const from = this.atStart && text.startsWith(BYTE_ORDER_MARK, start) ? start + 3 : start
    this.atStart = false
    if (text.startsWith('data', from)) {
      const value = readValue(bytes, text, ascii, from + 4, end)
      if (value !== undefined) this.addData(value)
    } else if (text.startsWith('event', from)) {
      this.event = readValue(bytes, text, ascii, from + 5, end) ?? this.event
    }
  }

  private addData(value: string): void {
    if (this.data === undefined) {
      this.data = value
      return
    }
    this.lines ??= new KeptText(this.data)
    this.lines.add('\n')
    this.lines.add(value)
  }

  private endEvent(chunk: Buffer, start: number, end: number): void {
    const { pending, event, data, lines } = this
    if (pending.size + end - start > this.maxEventBytes) throw new SseEventTooLargeError(this.maxEventBytes)
    this.event = ''
    this.data = undefined
    this.lines = undefined
    this.atStart = false
    if (data === undefined) pending.clear()
    else
      this.onEvent({ event, data: lines?.toString() ?? data, raw: pending.take(chunk.subarray(start, end)) })
  }
}

const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/** What follows a field's name; undefined: the name only begins like the field's. */
function readValue(
  bytes: Buffer,
  text: string,
  ascii: boolean,
  nameEnd: number,
  end: number,
): string | undefined {
  if (nameEnd >= end) return nameEnd === end ? '' : undefined
  if (text.charCodeAt(nameEnd) !== 0x3a) return undefined
  const from = nameEnd + 1 < end && text.charCodeAt(nameEnd + 1) === 0x20 ? nameEnd + 2 : nameEnd + 1
  // A slice of a text that is there already costs a tenth of decoding bytes.
  return ascii ? text.slice(from, end) : bytes.toString('utf8', from, end)
}
