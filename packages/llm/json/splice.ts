import type { FieldSpan } from './field-span.ts'
import type { Json } from './json-value.ts'
import { isShortJson, type SentBody, UnwrittenJson } from './unwritten-json.ts'

/** A longer text is copied when it is written: fresh memory takes a millisecond per MiB. */
const SHORT_BYTES = 512 * 1024

export interface SplicedObject {
  readonly bytes: Buffer
  readonly fields: ReadonlyMap<string, FieldSpan>
}

/**
 * The received bytes of a JSON object with some top-level fields changed: a value replaces or is appended, undefined
 * removes. Every other byte stays as it came, so numbers, escapes and unknown fields reach the provider unaltered.
 * `source` must be what scanJson found in the bytes of an object.
 */
export function spliceObject(
  source: SplicedObject,
  changes: ReadonlyMap<string, Json | undefined>,
): SentBody {
  const { bytes, fields } = source
  const out = new ByteWriter(bytes)
  const appended = new Map(changes)
  let first = true
  let previousEnd = -1
  for (const [name, span] of fields) {
    const leadStart = previousEnd === -1 ? 0 : previousEnd
    previousEnd = span.valueEnd
    const changed = changes.has(name)
    const value = changed ? changes.get(name) : undefined
    if (changed) appended.delete(name)
    if (changed && value === undefined) {
      // What opens the object belongs to whichever field comes first in the end.
      if (leadStart === 0) out.copy(0, span.keyStart)
      continue
    }
    if (leadStart === 0 || !first) out.copy(leadStart, span.keyStart)
    first = false
    if (changed) {
      out.copy(span.keyStart, span.valueStart)
      out.writeValue(value as Json)
    } else {
      out.copy(span.keyStart, span.valueEnd)
    }
  }
  const tail = previousEnd === -1 ? bytes.lastIndexOf('}') : previousEnd
  if (previousEnd === -1) out.copy(0, tail)
  for (const [name, value] of appended) {
    if (value === undefined) continue
    out.write(`${first ? '' : ','}${JSON.stringify(name)}:`)
    out.writeValue(value)
    first = false
  }
  out.copy(tail, bytes.length)
  return out.finish()
}

/** Gathers ranges of the source and new text, and copies once. Adjacent ranges become one. */
class ByteWriter {
  private readonly source: Buffer
  private readonly pieces: (Buffer | { readonly value: Json })[] = []
  private start = 0
  private end = 0

  constructor(source: Buffer) {
    this.source = source
  }

  copy(start: number, end: number): void {
    if (start === this.end) {
      this.end = end
      return
    }
    this.flush()
    this.start = start
    this.end = end
  }

  write(text: string): void {
    this.flush()
    this.pieces.push(Buffer.from(text))
    this.start = this.end
  }

  /** A value that is long is written later. */
  writeValue(value: Json): void {
    if (isShortJson(value)) return this.write(JSON.stringify(value))
    this.flush()
    this.pieces.push({ value })
  }

  finish(): SentBody {
    this.flush()
    const written: Buffer[] = []
    let size = 0
    for (const piece of this.pieces) {
      if ('value' in piece) return new UnwrittenJson(this.pieces)
      written.push(piece)
      size += piece.length
    }
    if (written.length === 1 && written[0] !== undefined) return written[0]
    return size > SHORT_BYTES ? new UnwrittenJson(written) : Buffer.concat(written, size)
  }

  private flush(): void {
    if (this.end > this.start) this.pieces.push(this.source.subarray(this.start, this.end))
    this.start = this.end
  }
}
