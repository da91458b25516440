import { IncomingMessage } from 'node:http'

/** The least that reading a chunk costs, in bytes of a long one. */
const MIN_COST = 1024
/** Shorter chunks are joined, up to this many bytes or chunks. */
const BLOCK_BYTES = 1024

/**
 * A request whose short chunks are joined as they arrive. Of a body of `1\r\nx\r\n` Node makes 10,900 buffers from one read of
 * the socket. It keeps 16,384 of them (65,536 since Node 22), of some 300 bytes each, for a body that is not read yet.
 */
export class ReceivedRequest extends IncomingMessage {
  /** What reading the body has cost so far, in bytes: each chunk counts as a KiB at least. */
  readCost = 0
  #isPaused = false
  #block: Buffer | undefined
  #used = 0
  #isFlushing = false

  /** Called by Node with each chunk, and with null at the end. Returns false if nothing more should be read from the socket. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#flush()
      return super.push(null)
    }
    this.readCost += Math.max(chunk.length, MIN_COST)
    // Most bodies have a length and arrive with their head: they pass unchanged.
    if (chunk.length >= BLOCK_BYTES || this.headers['content-length'] !== undefined) {
      this.#flush()
      return super.push(chunk) && !this.#isPaused
    }
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES)
    if (this.#used + chunk.length > BLOCK_BYTES) this.#flush()
    this.#used += chunk.copy(this.#block, this.#used)
    if (!this.#isFlushing) {
      this.#isFlushing = true
      // Not process.nextTick: Node runs that after each chunk.
      setImmediate(flushReadOf, this)
    }
    return this.readableLength < this.readableHighWaterMark && !this.#isPaused
  }

  /**
   * Reads nothing more from the socket. `pause()` of a stream lets Node read on until its buffer is full, up to 32 times 64 KiB
   * in one tick.
   */
  pauseReading(): void {
    this.#isPaused = true
    this.socket.pause()
  }

  resumeReading(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    super._read(0)
  }

  /** Called by Node when the stream has room. */
  override _read(size: number): void {
    if (!this.#isPaused) super._read(size)
  }

  /** Hands out what was joined in this tick. */
  flushRead(): void {
    this.#isFlushing = false
    if (!this.#flush()) this.socket.pause()
  }

  #flush(): boolean {
    const block = this.#block
    if (block === undefined || this.#used === 0) return true
    const bytes = Buffer.allocUnsafeSlow(this.#used)
    block.copy(bytes, 0, 0, this.#used)
    this.#used = 0
    return super.push(bytes)
  }
}

function flushReadOf(request: ReceivedRequest): void {
  request.flushRead()
}

/** Returns the cost of reading a body's first `bytes` bytes, which have arrived. */
export function costOf(req: IncomingMessage, bytes: number): number {
  return req instanceof ReceivedRequest ? req.readCost : bytes
}

export function pauseReading(req: IncomingMessage): void {
  if (req instanceof ReceivedRequest) req.pauseReading()
}

export function resumeReading(req: IncomingMessage): void {
  if (req instanceof ReceivedRequest) req.resumeReading()
}
