import type { Socket } from 'node:net'

/** The parts of undici's HTTP/1.1 parser (7.30.2, lib/dispatcher/client-h1.js) that the patch uses. */
interface Parser {
  paused: boolean
  readonly ptr: number | null
  readonly socket: Socket
  readonly llhttp: { llhttp_resume(parser: number): void }
  /** Bytes of the answer's body so far; 0 between answers. */
  readonly bytesRead: number
  /** Of the latest head. */
  readonly statusCode: number
  execute(bytes: Buffer): void
  onMessageComplete(): number
  finish(): Error | null
  /** Added by the patch: bytes that were parsed since the last answer ended. */
  parsedBytes?: number
}

/** What an answer may bring besides its body: its head, sizes and extensions of chunks, trailers. Heads and trailers have 16 KiB each at most. */
const MAX_FRAMING_BYTES = 64 * 1024
/** And this for each byte of the body. A chunk of two bytes has five; models send events of some hundred bytes. */
const FRAMING_PER_BYTE = 4

const patched = new WeakSet<object>()
let isEnding = false

/** False while the rest of an ended connection is read: the parser cannot pause then. */
export function mayPause(): boolean {
  return !isEnding
}

/**
 * Repairs three faults of undici's parser; call it for each new connection.
 *
 * The first is in the parser's prototype, which is patched once. undici asserts, inside a socket event, that a parser is not
 * paused when its connection ends. A provider that closes the connection while a caller reads slowly would therefore end the
 * process (undici#5360; fixed in undici 8, which Node 20 cannot load). The patched parser resumes, reads the bytes that have
 * arrived and then ends. The slow-caller test shows when a version of undici makes this patch unnecessary.
 *
 * The second is how a parser reads its socket after a pause, see `readRestFirst`. The third is that it reads framing without end,
 * see `boundAnswerFraming`.
 */
export function patchUndiciParser(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser =
    symbol === undefined ? undefined : (socket as unknown as Record<symbol, Parser | null>)[symbol]
  readRestFirst(socket, parser)
  if (parser === undefined || parser === null) return
  const prototype = Object.getPrototypeOf(parser) as Parser
  if (patched.has(prototype)) return
  patched.add(prototype)
  endWithRest(prototype)
  boundAnswerFraming(prototype)
}

function endWithRest(prototype: Parser): void {
  const { finish } = prototype
  prototype.finish = function (this: Parser): Error | null {
    isEnding = true
    try {
      while (this.paused && this.ptr !== null) {
        this.paused = false
        this.llhttp.llhttp_resume(this.ptr)
        this.execute((this.socket.read() as Buffer | null) ?? Buffer.alloc(0))
      }
    } catch (error) {
      // undici fails the connection's calls with the returned error. An error thrown here would end the process.
      return error as Error
    } finally {
      isEnding = false
    }
    return this.ptr === null ? null : finish.call(this)
  }
}

/**
 * Lets a parser that goes on read the rest of what it was given before anything newer. When it pauses, undici puts the rest
 * back, and then reads all that the socket holds, joined. That copied the rest once for each chunk, and let the socket read a
 * further 64 KiB for each chunk that a slow caller took: what waited in memory grew for as long as the provider was faster.
 */
function readRestFirst(socket: Socket, parser: Parser | null | undefined): void {
  const { read, unshift } = socket
  let restBytes = 0
  socket.unshift = (rest: Buffer) => {
    restBytes += rest.length
    if (parser?.parsedBytes !== undefined) parser.parsedBytes -= rest.length
    unshift.call(socket, rest)
  }
  socket.read = (size?: number) => {
    if (restBytes === 0 || size !== undefined) return read.call(socket, size)
    // A longer read would raise the high-water mark to its length.
    const bytes = Math.min(restBytes, socket.readableHighWaterMark)
    restBytes -= bytes
    return read.call(socket, bytes)
  }
}

/**
 * Ends a connection that brings more framing than a body needs. No handler is told of extensions of chunks, zeros before their
 * sizes, spaces in heads and line ends between answers, so that neither limits nor turns count them, and the parser reads them as
 * fast as they come.
 */
function boundAnswerFraming(prototype: Parser): void {
  const { execute, onMessageComplete } = prototype
  prototype.onMessageComplete = function (this: Parser): number {
    // An interim answer ends no call.
    const isFinal = this.statusCode >= 200
    const result = onMessageComplete.call(this)
    if (isFinal) this.parsedBytes = 0
    return result
  }
  prototype.execute = function (this: Parser, bytes: Buffer): void {
    this.parsedBytes = (this.parsedBytes ?? 0) + bytes.length
    execute.call(this, bytes)
    const most = MAX_FRAMING_BYTES + (1 + FRAMING_PER_BYTE) * this.bytesRead
    if (this.parsedBytes > most) this.socket.destroy(new Error('too much framing for its body'))
  }
}
