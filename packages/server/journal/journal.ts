import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * The append-only journal: one line a record, in the kernel before `append` returns, so that a killed process loses
 * nothing that was answered behind it (measured: where answers left before a turn's batch, 24 of 25 kills lost records).
 * A timer syncs the file to the disk, which bounds what a power cut can take.
 */
export interface Journal {
  /** Writes records; throws where the disk refuses. Gives the number of the segment that the last one went to. */
  append(...records: readonly string[]): number
  /** Ends the current segment, so that it can be read whole and removed. Gives the new one's number. */
  rotate(): number
  /** The number of the segment that is being written. */
  current(): number
  /** What all segments take on the disk. Counted, never asked of the disk. */
  bytes(): number
  /** Removes segments that are not written any more. */
  remove(segments: readonly number[]): void
  close(): void
}

export interface JournalOptions {
  readonly maxSegmentBytes?: number
  /** Milliseconds between syncs to disk. */
  readonly syncEveryMs?: number
  readonly onError: (error: unknown) => void
}

const SEGMENT = /^j-(\d{10})\.log$/

/** Hex digits of the CRC-32 in front of each line's JSON: a torn or damaged line is told from a whole one. */
const CHECKSUM_LENGTH = 8
const NEWLINE = 10

/** What is written at once, unless one line is longer. */
const WRITE_BYTES = 64 * 1024

/** Lines are made in one buffer that is used again. */
class LineEncoder {
  #buffer = Buffer.allocUnsafe(2 * WRITE_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(json: string): void {
    const start = this.#length + CHECKSUM_LENGTH
    const most = start + json.length * 3 + 1
    if (most > this.#buffer.length) this.#grow(most * 2)
    const end = start + this.#buffer.write(json, start, 'utf8')
    const checksum = crc32(this.#buffer.subarray(start, end)).toString(16)
    this.#buffer.write(checksum.padStart(CHECKSUM_LENGTH, '0'), this.#length, 'latin1')
    this.#buffer[end] = NEWLINE
    this.#length = end + 1
  }

  /** What was added since the last call; valid until more is. */
  take(): Buffer {
    const lines = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return lines
  }

  /** Ends a line that the disk took only a part of: what comes next must not be lost with it. */
  endTornLine(): void {
    this.#buffer[this.#length++] = NEWLINE
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(bytes)
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

export function segmentPath(folder: string, sequence: number): string {
  return path.join(folder, `j-${String(sequence).padStart(10, '0')}.log`)
}

/** The segments of a journal's folder, oldest first. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder)
    .map(name => SEGMENT.exec(name)?.[1])
    .filter(digits => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b)
}

/** For a timer and a callback, which have nobody to throw to. */
function attempt(work: () => void, onError: JournalOptions['onError']): void {
  try {
    work()
  } catch (error) {
    onError(error)
  }
}

export function openJournal(folder: string, options: JournalOptions): Journal {
  const { maxSegmentBytes = 16 * 1024 * 1024, syncEveryMs = 1000, onError } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let sequence = Math.max(0, ...listSegments(folder))
  let size = 0
  /** The bytes of each segment but the current one, and their sum. */
  const sizes = new Map<number, number>()
  let bytesBehind = 0
  let dirty = false
  for (const each of listSegments(folder)) keep(each, statSync(segmentPath(folder, each)).size)
  const encoder = new LineEncoder()
  // A start never appends behind a line that a kill may have torn: it opens a segment of its own.
  let file = openSegment()

  const timer = setInterval(() => {
    if (!dirty) return
    dirty = false
    attempt(() => fdatasync(file, error => error !== null && onError(error)), onError)
  }, syncEveryMs)
  timer.unref()

  function keep(segment: number, bytes: number): void {
    sizes.set(segment, bytes)
    bytesBehind += bytes
  }

  function openSegment(): number {
    sequence++
    size = 0
    const opened = openSync(segmentPath(folder, sequence), 'ax', 0o600)
    const parent = openSync(folder, 'r')
    fsyncSync(parent)
    closeSync(parent)
    return opened
  }

  function rotate(): number {
    const full = file
    const [number, bytes] = [sequence, size]
    file = openSegment()
    keep(number, bytes)
    fdatasync(full, error => {
      if (error !== null) onError(error)
      attempt(() => closeSync(full), onError)
    })
    return sequence
  }

  function write(lines: Buffer): void {
    if (lines.length === 0) return
    if (size > 0 && size + lines.length > maxSegmentBytes) rotate()
    dirty = true
    let at = 0
    try {
      // A short write is legal; what is missing is written on.
      while (at < lines.length) at += writeSync(file, lines, at, lines.length - at)
    } finally {
      size += at
      if (at > 0 && at < lines.length) encoder.endTornLine()
    }
  }

  return {
    append(...records) {
      for (const json of records) {
        encoder.add(json)
        if (encoder.length >= WRITE_BYTES) write(encoder.take())
      }
      write(encoder.take())
      return sequence
    },
    rotate,
    current: () => sequence,
    bytes: () => bytesBehind + size,
    remove(segments) {
      for (const each of segments) {
        rmSync(segmentPath(folder, each), { force: true })
        bytesBehind -= sizes.get(each) ?? 0
        sizes.delete(each)
      }
    },
    close() {
      clearInterval(timer)
      fdatasyncSync(file)
      closeSync(file)
    },
  }
}
