import type { SlicedWork } from '../fairness/sliced-work.ts'

export interface FormPart {
  readonly name: string
  /** True if the part has a file name, so its bytes are a file's content. */
  readonly isFile: boolean
  /** A range of the body, not a copy. */
  readonly bytes: Buffer
}

export type FormProblem = 'malformed' | 'no_boundary' | 'too_many_parts' | 'long_header' | 'encoded'

/** More than any valid request has. A part costs more to parse than to send. */
const MAX_PARTS = 100
/** The limit of one part's headers. Names and a media type take a tenth of it. */
const MAX_HEADER_BYTES = 4 * 1024
/** The bytes that one step searches. */
const SLICE_BYTES = 1024 * 1024

const PARAMETER = /;\s*([^\s=;]{1,64})=(?:"([^"]*)"|([^\s;]*))/g
const HEADER = /^([^\s:]{1,64}):[ \t]*([^\r\n\0]*)$/
const MAX_BOUNDARY = 70

/** Parses `multipart/form-data` (RFC 7578) in steps. Parts are ranges of the body. */
export class FormScan implements SlicedWork {
  problem: FormProblem | undefined
  readonly parts: FormPart[] = []
  private readonly bytes: Buffer
  /** Precedes each part and follows the last one. */
  private readonly delimiter: Buffer
  /** Start of the part whose end is being searched; undefined: no part has begun. */
  private partStart: number | undefined
  private searched = 0
  private isClosed = false

  constructor(bytes: Buffer, contentType: string) {
    this.bytes = bytes
    const boundary = findParameter(contentType, 'boundary') ?? ''
    if (boundary === '' || boundary.length > MAX_BOUNDARY) this.problem = 'no_boundary'
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    // The first delimiter may be at the start of the body, without a line break before it.
    if (bytes.subarray(0, this.delimiter.length - 2).equals(this.delimiter.subarray(2))) {
      this.goTo(this.delimiter.length - 2)
    }
  }

  step(): boolean {
    if (this.problem !== undefined || this.isClosed) return true
    const { bytes, delimiter, searched } = this
    const end = Math.min(bytes.length, searched + SLICE_BYTES + delimiter.length)
    const found = bytes.subarray(searched, end).indexOf(delimiter)
    if (found !== -1) {
      if (this.partStart !== undefined) this.addPart(this.partStart, searched + found)
      this.goTo(searched + found + delimiter.length)
    } else if (end === bytes.length) this.problem = 'malformed'
    else this.searched = searched + SLICE_BYTES
    return this.problem !== undefined || this.isClosed
  }

  /** Continues after a delimiter, which ends at `after`. */
  private goTo(after: number): void {
    const { bytes } = this
    this.isClosed = bytes.toString('latin1', after, after + 2) === '--'
    let at = after
    while (at - after < MAX_HEADER_BYTES && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++
    if (!this.isClosed && bytes.toString('latin1', at, at + 2) !== '\r\n') this.problem ??= 'malformed'
    this.partStart = at + 2
    // After an empty part, this line break is also the start of the next delimiter.
    this.searched = at
  }

  private addPart(start: number, end: number): void {
    if (this.parts.length === MAX_PARTS) {
      this.problem = 'too_many_parts'
      return
    }
    const { bytes } = this
    const head = bytes.subarray(start, Math.min(end, start + MAX_HEADER_BYTES + 4))
    const length = head.indexOf('\r\n\r\n')
    if (length === -1) {
      this.problem = end - start > MAX_HEADER_BYTES ? 'long_header' : 'malformed'
      return
    }
    const headers = parseHeaders(head.toString('utf8', 0, length))
    const disposition = headers?.get('content-disposition') ?? ''
    const name = /^form-data\b/i.test(disposition) ? findParameter(disposition, 'name') : undefined
    if (name === undefined) this.problem = 'malformed'
    else if (!UNENCODED.has(headers?.get('content-transfer-encoding')?.toLowerCase()))
      this.problem = 'encoded'
    else
      this.parts.push({ name, isFile: isFile(disposition), bytes: bytes.subarray(start + length + 4, end) })
  }
}

/**
 * Returns the headers by name in lower case; undefined if a line is not a header or a header occurs twice, which parsers
 * read differently.
 */
function parseHeaders(head: string): Map<string, string> | undefined {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined || headers.has(name.toLowerCase())) return undefined
    headers.set(name.toLowerCase(), value.trim())
  }
  return headers
}

/** Other transfer encodings are deprecated (RFC 7578, 4.7), and no client library sends one. */
const UNENCODED: ReadonlySet<string | undefined> = new Set([undefined, '7bit', '8bit', 'binary'])

function isFile(disposition: string): boolean {
  const names = ['filename', 'filename*']
  return names.some(name => findParameter(disposition, name) !== undefined)
}

/** Returns the value of a parameter such as `name` in `form-data; name="image"`, without the escapes of browsers. */
function findParameter(header: string, wanted: string): string | undefined {
  for (const [, name = '', quoted, bare = ''] of header.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== wanted) continue
    if (quoted === undefined) return bare
    return quoted.replaceAll('%22', '"').replaceAll(/%0D/gi, '\r').replaceAll(/%0A/gi, '\n')
  }
  return undefined
}
