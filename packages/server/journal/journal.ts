import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * The append-only journal with one line per record. A line is in the kernel when `append` returns, so a killed process loses
 * no record of an answer that is sent afterwards. (When answers were sent before the batch of their tick, 24 of 25 kills lost
 * records.) A timer syncs the file to the disk, which limits the loss in a power cut.
 */
export interface Journal {
  /** Appends records and returns the number of the segment that contains the last one. Throws if they cannot be written. */
  append(...records: readonly string[]): number
  /** Begins a new segment and returns its number. The previous one can then be read whole and removed. */
  rotate(): number
  /** Returns the number of the segment that is being written. */
  current(): number
  /** Returns the size of all segments in bytes. It is counted, without a call to the file system. */
  bytes(): number
  /** Returns the numbers of the segments in its folder, oldest first, without those that are being removed. */
  segments(): number[]
  /**
   * Removes segments that are no longer written. Resolves once their files are gone or could not be removed, which is reported
   * once for each; never rejects.
   */
  remove(segments: readonly number[]): Promise<void>
  close(): void
}

export interface JournalOptions {
  readonly maxSegmentBytes?: number
  /** Milliseconds between syncs to disk. */
  readonly syncEveryMs?: number
  readonly onError: (error: unknown) => void
}

const SEGMENT = /^j-(\d{10})\.log$/

/** Hex digits of the CRC-32 before each line's JSON, which detects torn and damaged lines. */
const CHECKSUM_LENGTH = 8
const NEWLINE = 10

/** The bytes of one write, unless a single line is longer. */
const WRITE_BYTES = 64 * 1024

/** Encodes lines into one reused buffer. */
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

  /** Returns the lines added since the last call. The bytes are valid until the next `add`. */
  take(): Buffer {
    const lines = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return lines
  }

  /** Ends a line that was only partly written, so that the next line is not damaged too. */
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

/** Returns the numbers of the segments in a journal's folder, oldest first. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder)
    .map(name => SEGMENT.exec(name)?.[1])
    .filter(digits => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b)
}

/** Runs the work of a timer or a callback, which have no caller to throw to. */
function attempt(work: () => void, onError: JournalOptions['onError']): void {
  try {
    work()
  } catch (error) {
    onError(error)
  }
}

/** Writes a folder's list of files to the disk. Not in the event loop, since it waits for what others write to the disk too. */
function syncFolder(folder: string, onError: JournalOptions['onError']): void {
  const opened = openSync(folder, 'r')
  fsync(opened, error => {
    if (error !== null) onError(error)
    attempt(() => closeSync(opened), onError)
  })
}

/** The segments that are no longer written. */
class ClosedSegments {
  readonly #folder: string
  readonly #onError: JournalOptions['onError']
  readonly #sizes = new Map<number, number>()
  readonly #leaving = new Set<number>()
  /** Those whose removal failed, which is reported once. */
  readonly #stuck = new Set<number>()
  /** The bytes of all segments together, without those that are being removed. */
  bytes = 0

  constructor(folder: string, onError: JournalOptions['onError']) {
    this.#folder = folder
    this.#onError = onError
  }

  keep(segment: number, bytes: number): void {
    this.#sizes.set(segment, bytes)
    this.bytes += bytes
  }

  isBeingRemoved(segment: number): boolean {
    return this.#leaving.has(segment)
  }

  /** One that cannot be removed is kept. Not in the event loop: a full segment takes 7 ms. */
  async remove(segment: number): Promise<void> {
    const bytes = this.#sizes.get(segment) ?? 0
    this.#sizes.delete(segment)
    this.bytes -= bytes
    this.#leaving.add(segment)
    try {
      await rm(segmentPath(this.#folder, segment), { force: true })
    } catch (error) {
      this.keep(segment, bytes)
      if (!this.#stuck.has(segment)) this.#onError(error)
      this.#stuck.add(segment)
    }
    this.#leaving.delete(segment)
  }
}

export function openJournal(folder: string, options: JournalOptions): Journal {
  const { maxSegmentBytes = 16 * 1024 * 1024, syncEveryMs = 1000, onError } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let sequence = Math.max(0, ...listSegments(folder))
  let size = 0
  const closed = new ClosedSegments(folder, onError)
  let dirty = false
  for (const segment of listSegments(folder))
    closed.keep(segment, statSync(segmentPath(folder, segment)).size)
  const encoder = new LineEncoder()
  // A kill may have torn the last line of an earlier segment, so each start begins a segment of its own.
  let file = openSegment()

  const timer = setInterval(() => {
    if (!dirty) return
    dirty = false
    attempt(() => fdatasync(file, error => error !== null && onError(error)), onError)
  }, syncEveryMs)
  timer.unref()

  /** Changes nothing if it throws, so that the current segment goes on. */
  function openSegment(): number {
    const next = Math.max(sequence, ...listSegments(folder)) + 1
    const opened = openSync(segmentPath(folder, next), 'ax', 0o600)
    attempt(() => syncFolder(folder, onError), onError)
    sequence = next
    size = 0
    return opened
  }

  function rotate(): number {
    const full = file
    const [number, bytes] = [sequence, size]
    file = openSegment()
    closed.keep(number, bytes)
    fdatasync(full, error => {
      if (error !== null) onError(error)
      attempt(() => closeSync(full), onError)
    })
    return sequence
  }

  function write(lines: Buffer): void {
    if (lines.length === 0) return
    let at = 0
    try {
      if (size > 0 && size + lines.length > maxSegmentBytes) rotate()
      dirty = true
      // A write may be short; continue with the rest.
      while (at < lines.length) at += writeSync(file, lines, at, lines.length - at)
    } finally {
      size += at
      // Nothing was written of lines that were to end a torn one: it is still torn.
      if (at < lines.length && (at > 0 || lines[0] === NEWLINE)) encoder.endTornLine()
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
    bytes: () => closed.bytes + size,
    segments: () => listSegments(folder).filter(segment => !closed.isBeingRemoved(segment)),
    async remove(segments) {
      await Promise.all(segments.map(segment => closed.remove(segment)))
    },
    close() {
      clearInterval(timer)
      // All lines are in the kernel: what cannot be synced must not keep the process from ending.
      attempt(() => fdatasyncSync(file), onError)
      attempt(() => closeSync(file), onError)
    },
  }
}
