import { createHash } from 'node:crypto'
import { type SentBody, toPieces, type UnwrittenBody } from '../json/unwritten-json.ts'

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly bytes: SentBody; readonly fileName: string; readonly mediaType: string }

/** Longer forms are written in pieces. */
const SHORT_BYTES = 256 * 1024
/** What is read or copied at once, which takes less than a millisecond. */
const PIECE = 256 * 1024
const NOTHING = Buffer.alloc(0)

/** A form as RFC 7578 has it. The boundary is a digest of what it separates, so that it cannot stand within. */
export function encodeForm(parts: readonly FormPart[]): { contentType: string; body: Buffer } {
  const form = new UnwrittenForm(parts)
  const body = Buffer.concat([...form.pieces()])
  return { contentType: form.contentType(), body }
}

/** Returns a form that is yet to be written if it is long. Its Content-Type is known once it is written. */
export function toSentForm(parts: readonly FormPart[]): { contentType: () => string; body: SentBody } {
  let length = 0
  for (const part of parts) length += toLength(part)
  if (length <= SHORT_BYTES) {
    const { contentType, body } = encodeForm(parts)
    return { contentType: () => contentType, body }
  }
  const form = new UnwrittenForm(parts)
  return { contentType: () => form.contentType(), body: form }
}

class UnwrittenForm implements UnwrittenBody {
  readonly #parts: readonly FormPart[]
  #boundary: string | undefined

  constructor(parts: readonly FormPart[]) {
    this.#parts = parts
  }

  contentType(): string {
    if (this.#boundary === undefined) throw new Error('the form is not written yet')
    return `multipart/form-data; boundary=${this.#boundary}`
  }

  /** The first pieces are empty: the boundary comes before all else, and all else is read for it. */
  *pieces(): Generator<Buffer, void> {
    const digest = createHash('sha256')
    for (const part of this.#parts) {
      for (const piece of toContent(part)) {
        digest.update(piece)
        yield NOTHING
      }
    }
    const boundary = `form-${digest.digest('hex').slice(0, 40)}`
    for (const part of this.#parts) {
      yield Buffer.from(toHead(part, boundary))
      yield* toContent(part)
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(`--${boundary}--\r\n`)
    this.#boundary = boundary
  }
}

/** What is yet to be made is long. */
function toLength(part: FormPart): number {
  if (!('bytes' in part)) return part.value.length
  return 'pieces' in part.bytes ? Number.POSITIVE_INFINITY : part.bytes.length
}

function* toContent(part: FormPart): Generator<Buffer, void> {
  if (!('bytes' in part)) return yield* toPieces(part.value)
  if ('pieces' in part.bytes) return yield* part.bytes.pieces()
  for (let at = 0; at < part.bytes.length; at += PIECE) yield part.bytes.subarray(at, at + PIECE)
}

function toHead(part: FormPart, boundary: string): string {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quote(part.name)}"`
  if (!('bytes' in part)) return `${head}\r\n\r\n`
  return `${head}; filename="${quote(part.fileName)}"\r\nContent-Type: ${part.mediaType}\r\n\r\n`
}

function quote(name: string): string {
  return name.replace(/["\r\n]/g, char => (char === '"' ? '%22' : char === '\r' ? '%0D' : '%0A'))
}
