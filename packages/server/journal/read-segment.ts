import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export interface SegmentContents {
  /** The JSON text of each whole record, in the order of writing. */
  readonly records: string[]
  /** Lines whose checksum does not hold: damaged or torn, then written over. */
  readonly badLines: number
}

const NEWLINE = 10

/** Reads a segment to its last newline: what stands behind it is a line that a kill cut short. */
export function readSegment(file: string): SegmentContents {
  const bytes = readFileSync(file)
  const records: string[] = []
  let badLines = 0
  for (let at = 0; ; ) {
    const end = bytes.indexOf(NEWLINE, at)
    if (end < 0) return { records, badLines }
    const line = bytes.toString('utf8', at, end)
    at = end + 1
    const json = line.slice(8)
    if (Number.parseInt(line.slice(0, 8), 16) === crc32(json)) records.push(json)
    else badLines++
  }
}
