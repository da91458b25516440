import { ChunkBuffer } from './chunk-buffer.ts'
import type { SseEvent, SseParser } from './sse.ts'

const LF = 10
const NO_EVENT = ''

/** A provider that never ends its line would otherwise fill the memory. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'

  constructor(maxLineBytes: number) {
    super(`a line is longer than ${maxLineBytes} bytes`)
  }
}

/**
 * Reads newline-delimited JSON from bytes as they arrive: each line that is not blank is an event without a name. It cuts
 * at line feeds only, so a character split between chunks stays whole. Throws LineTooLongError, after which it is of no use.
 */
export function openNdjsonParser(
  onEvent: (event: SseEvent) => void,
  { maxEventBytes = 1024 * 1024 }: { readonly maxEventBytes?: number } = {},
): SseParser {
  return new Parser(onEvent, maxEventBytes)
}

class Parser implements SseParser {
  private readonly onEvent: (event: SseEvent) => void
  private readonly maxEventBytes: number
  /** The begun line's bytes of former chunks. */
  private readonly pending = new ChunkBuffer()

  constructor(onEvent: (event: SseEvent) => void, maxEventBytes: number) {
    this.onEvent = onEvent
    this.maxEventBytes = maxEventBytes
  }

  push(chunk: Buffer): void {
    let at = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, at)) {
      this.endLine(chunk.subarray(at, end + 1))
      at = end + 1
    }
    if (at < chunk.length) this.hold(chunk.subarray(at))
  }

  hasPartial(): boolean {
    return this.pending.size > 0
  }

  end(): void {
    this.endLine(Buffer.alloc(0))
  }

  private hold(piece: Buffer): void {
    this.assertShort(piece)
    this.pending.add(piece)
  }

  private endLine(piece: Buffer): void {
    this.assertShort(piece)
    const raw = this.pending.take(piece)
    const data = raw.toString('utf8').trim()
    if (data !== '') this.onEvent({ event: NO_EVENT, data, raw })
  }

  private assertShort(piece: Buffer): void {
    if (this.pending.size + piece.length > this.maxEventBytes) throw new LineTooLongError(this.maxEventBytes)
  }
}
