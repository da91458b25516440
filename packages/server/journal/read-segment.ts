import { closeSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { ShortTicks } from '../core/short-ticks.ts'

export interface SegmentContents {
  /** The JSON text of each whole record, in the order of writing. */
  readonly records: string[]
  /** Lines with a wrong checksum, because they are damaged or torn, and lines that are longer than any record. */
  readonly badLines: number
}

const NEWLINE = 10
const CHUNK_BYTES = 256 * 1024
/** No version wrote a longer line: a request's body has at most 32 MiB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024

/**
 * Reads a segment up to its last newline, in short ticks, since requests may be running. Bytes after the newline are a line that a kill
 * cut short.
 */
export async function readSegment(file: string, maxLineBytes = MAX_LINE_BYTES): Promise<SegmentContents> {
  const records: string[] = []
  let badLines = 0
  const ticks = new ShortTicks()
  for (const line of readLines(file, maxLineBytes)) {
    if (ticks.isOver) await ticks.next()
    const json = line?.toString('utf8', 8)
    if (json !== undefined && Number.parseInt(line?.toString('latin1', 0, 8) ?? '', 16) === crc32(json))
      records.push(json)
    else badLines++
  }
  return { records, badLines }
}

/** Yields each line that ends with a newline; undefined for one over `maxLineBytes`. Reads the file in chunks. */
function* readLines(file: string, maxLineBytes: number): Generator<Buffer | undefined> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    let pieces: Buffer[] = []
    let length = 0
    for (let read = 0; (read = readSync(descriptor, chunk)) > 0; ) {
      for (let at = 0; at < read; ) {
        const end = chunk.subarray(0, read).indexOf(NEWLINE, at)
        const piece = chunk.subarray(at, end < 0 ? read : end)
        length += piece.length
        if (length <= maxLineBytes) pieces.push(Buffer.from(piece))
        else pieces = []
        at = end < 0 ? read : end + 1
        if (end < 0) continue
        yield length <= maxLineBytes ? Buffer.concat(pieces, length) : undefined
        pieces = []
        length = 0
      }
    }
  } finally {
    closeSync(descriptor)
  }
}
