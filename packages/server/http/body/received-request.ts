import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type GivenUpFor, isGivenUp, noteGivenUp } from '../connection/given-up.ts'
import { parserOf } from '../connection/node-parser.ts'

/** The least that reading a chunk costs, in bytes of a long one. */
const MIN_COST = 1024
/** Shorter chunks are joined, up to this many bytes or chunks. */
const BLOCK_BYTES = 1024
/**
 * Chunks with fewer bytes are very short. Node needs a microsecond for each, and one read of the socket can bring 10,900 of them,
 * from a caller that is not known yet.
 */
const VERY_SHORT_BYTES = 16
/** So many of them may come before the body is wanted, and the rest of the same read may bring it up to `MAX_VERY_SHORT`. */
const MAX_WAITING_VERY_SHORT = 256
const MAX_VERY_SHORT = 1_024

/**
 * A request whose short chunks are joined as they arrive. Of a body of `1\r\nx\r\n` Node makes 10,900 buffers from one read of
 * the socket. It keeps 16,384 of them (65,536 since Node 22), of some 300 bytes each, for a body that is not read yet.
 */
export class ReceivedRequest extends IncomingMessage {
  /** What reading the body has cost so far, in bytes: each chunk counts as a KiB at least. */
  readCost = 0
  /** What was read from the socket while the body arrived, its framing included. */
  readBytes = 0
  #isPaused = false
  #block: Buffer | undefined
  #used = 0
  #isFlushing = false
  #isWanted = false
  /** Very short chunks that came before the body was wanted. */
  #veryShort = 0

  /** Called by Node with each chunk, and with null at the end. Returns false if nothing more should be read from the socket. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#flush()
      if (!isGivenUp(this)) return super.push(null)
      // Bytes of it are missing, so the connection closes behind its answer.
      this.complete = false
      return false
    }
    this.readCost += Math.max(chunk.length, MIN_COST)
    // Most bodies have a length and arrive with their head: they pass unchanged.
    if (chunk.length >= BLOCK_BYTES || this.headers['content-length'] !== undefined) {
      this.#flush()
      return super.push(chunk) && !this.#isPaused
    }
    if (chunk.length < VERY_SHORT_BYTES && !this.#isWanted) this.#noteVeryShort()
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
    if (!this.#isPaused || isGivenUp(this) || this.#hasTooManyWaiting()) return
    this.#isPaused = false
    // What has arrived is handed out first, and may pause again. A socket that was resumed begins to read at the end of the tick even if
    // it was paused since.
    process.nextTick(readOn, this)
  }

  /** Reads from the socket, unless reading was paused again. */
  readOn(): void {
    if (!this.#isPaused) super._read(0)
  }

  /** Reads the body, whatever its chunks are. Nobody wants the body of an unknown caller, nor what is left of it after its refusal. */
  wantBody(): void {
    this.#isWanted = true
    this.resumeReading()
  }

  /** True if the request was given up, or its body is not read on, however long its reader waits. */
  get isStalled(): boolean {
    return isGivenUp(this) || (!this.complete && this.#hasTooManyWaiting())
  }

  /** Reads nothing more, neither of the body, whoever wants it, nor of what follows it. */
  giveUp(reason: GivenUpFor): void {
    noteGivenUp(this, reason)
    this.pauseReading()
  }

  #noteVeryShort(): void {
    this.#veryShort++
    if (this.#veryShort === MAX_WAITING_VERY_SHORT) this.pauseReading()
    if (this.#veryShort <= MAX_VERY_SHORT || isGivenUp(this)) return
    this.giveUp('framing')
    muteParser(this.socket)
  }

  #hasTooManyWaiting(): boolean {
    return !this.#isWanted && this.#veryShort >= MAX_WAITING_VERY_SHORT
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

function readOn(request: ReceivedRequest): void {
  request.readOn()
}

/** Lets Node's parser hand out none of the chunks that are left of a read. It goes through them ten times as fast then. */
function muteParser(socket: Socket): void {
  const parser = parserOf(socket)
  const callback = parser?.constructor.kOnBody
  // A version of Node that does this otherwise. The test shows it.
  if (parser === undefined || callback === undefined) return void socket.destroy()
  const hand = parser[callback] ?? null
  parser[callback] = null
  // Node uses a parser again for other connections, which are read after this.
  setImmediate(() => {
    parser[callback] = hand
  })
}

/** Returns the cost of reading a body's first `bytes` bytes, which have arrived. */
export function costOf(req: IncomingMessage, bytes: number): number {
  return req instanceof ReceivedRequest ? req.readCost : bytes
}

export function wantBody(req: IncomingMessage): void {
  if (req instanceof ReceivedRequest) req.wantBody()
}

export function pauseReading(req: IncomingMessage): void {
  if (req instanceof ReceivedRequest) req.pauseReading()
}

export function resumeReading(req: IncomingMessage): void {
  if (req instanceof ReceivedRequest) req.resumeReading()
}
