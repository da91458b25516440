import { HEADER_BYTES } from '../../workers/channel/frames.ts'

const FIRST_BYTES = 4096
/** A character takes at most three bytes of UTF-8. */
const BYTES_PER_CHAR = 3

/** A frame ends with the operation that reaches this length. Frames have at most 16 MiB, and lists of meters can be long. */
const FULL_FRAME_BYTES = 1024 * 1024

/** Writes operations, numbers and texts one after the other, into the payloads of frames. Grows as needed. */
export class ByteWriter {
  /** Frames that are complete and were not taken yet. */
  #full: Buffer[] = []
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #at = HEADER_BYTES

  get isEmpty(): boolean {
    return this.#at === HEADER_BYTES && this.#full.length === 0
  }

  /** The length of the next frame, in bytes. */
  get length(): number {
    return this.#full[0]?.length ?? this.#at
  }

  /** To be called after each operation: a reader needs all of one in the same frame. */
  endOperation(): void {
    if (this.#at >= FULL_FRAME_BYTES) this.#full.push(this.#cut())
  }

  uint8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  uint32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  /** Exact for every integer up to 2^53. NaN stands for null. */
  double(value: number | null): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#at, value ?? Number.NaN, true)
    this.#at += 8
  }

  text(value: string): void {
    this.#reserve(4 + value.length * BYTES_PER_CHAR)
    const length = this.#bytes.write(value, this.#at + 4)
    this.#view.setUint32(this.#at, length, true)
    this.#at += 4 + length
  }

  /** Returns the next frame, whose header is free, and begins again after the last. */
  takeFrame(): Buffer {
    return this.#full.shift() ?? this.#cut()
  }

  /** Forgets what was not taken. */
  clear(): void {
    this.#full = []
    this.#at = HEADER_BYTES
  }

  #cut(): Buffer {
    // A copy, because the socket may still read it while the next frame is written.
    const frame = Buffer.from(this.#bytes.subarray(0, this.#at))
    this.#at = HEADER_BYTES
    return frame
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
