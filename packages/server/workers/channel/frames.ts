/** Bytes before the payload of a frame: its length (4, little-endian, what follows them) and its topic (1). */
export const HEADER_BYTES = 5

/** The longest frame. A longer one is malformed, so that a peer can never make this process buffer more. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024

/** Writes the header of a frame that has HEADER_BYTES free at its start. Throws where the frame is too long. */
export function writeHeader(frame: Buffer, topic: number): void {
  if (frame.length > MAX_FRAME_BYTES) {
    throw new Error(`a frame must have at most ${MAX_FRAME_BYTES} bytes; got ${frame.length}`)
  }
  frame.writeUInt32LE(frame.length - 4, 0)
  frame[4] = topic
}

/** Cuts received bytes into frames. */
export class FrameReader {
  readonly #onFrame: (topic: number, payload: Buffer) => void
  #chunks: Buffer[] = []
  #buffered = 0
  /** Bytes of the frame that is being received; unknown before its length has arrived. */
  #needed = HEADER_BYTES

  /** The longest frame that is accepted now. */
  maxBytes: number

  constructor(maxBytes: number, onFrame: (topic: number, payload: Buffer) => void) {
    this.maxBytes = maxBytes
    this.#onFrame = onFrame
  }

  /** Calls `onFrame` for each frame that is complete. Throws where a length is not one of a frame. */
  push(chunk: Buffer): void {
    let bytes = chunk
    if (this.#buffered > 0) {
      this.#chunks.push(chunk)
      this.#buffered += chunk.length
      if (this.#buffered < this.#needed) return
      bytes = Buffer.concat(this.#chunks, this.#buffered)
      this.#chunks = []
      this.#buffered = 0
    }
    let at = 0
    this.#needed = HEADER_BYTES
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUInt32LE(at) + 4
      if (length < HEADER_BYTES || length > this.maxBytes) throw new Error(`a frame of ${length} bytes`)
      this.#needed = length
      if (bytes.length - at < length) break
      this.#onFrame(bytes[at + 4] as number, bytes.subarray(at + HEADER_BYTES, at + length))
      at += length
      this.#needed = HEADER_BYTES
    }
    if (at === bytes.length) return
    this.#chunks.push(at === 0 ? bytes : bytes.subarray(at))
    this.#buffered = bytes.length - at
  }
}
