import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { HandshakeWatch } from './slow-handshakes.ts'

/** Too many handshakes with the host, or of the party that connects to it, blocked the event loop. */
export class SlowHandshakeError extends Error {
  override readonly name = 'SlowHandshakeError'

  constructor() {
    super('earlier TLS handshakes took too long')
  }
}

/** What a chain of four certificates with RSA-4096 keys and 100 names takes twice. */
const MAX_HANDSHAKE_BYTES = 16_384

/**
 * The bytes of a socket, between it and its TLS. Ends the connection if more than MAX_HANDSHAKE_BYTES arrive before
 * `endHandshake` is called, and passes none of the chunk that is too much on. A TLS socket alone reads its handshake
 * without JavaScript, so nothing else sees how long it is before OpenSSL has verified all of it. `watch` is asked before each
 * chunk, and gets the longest time that TLS took for one if the handshake failed.
 */
export class CountedStream extends Duplex {
  readonly #socket: Socket
  /** undefined once the handshake is complete. */
  #watch: HandshakeWatch | undefined
  #handshakeBytes = 0
  /** Set while TLS works on a chunk of the handshake. */
  #stop: (() => number) | undefined
  #longestMs = 0

  constructor(socket: Socket, watch: HandshakeWatch) {
    super({ readableHighWaterMark: socket.readableHighWaterMark, writableHighWaterMark: 0 })
    this.#socket = socket
    this.#watch = watch
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', error => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /**
   * To be called before anything else is done with the connection, so that only TLS is measured. The time of a handshake with a host whose
   * chain is trusted is not noted: authorities sign no chain that takes long, and a pause of the garbage collector may fall into it.
   */
  endHandshake(isTrusted: boolean): void {
    this.#noteTime()
    if (!isTrusted) this.#watch?.note(this.#longestMs)
    this.#watch = undefined
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return
    if (this.#watch === undefined) return this.#forward(chunk)
    this.#handshakeBytes += chunk.length
    if (this.#handshakeBytes > MAX_HANDSHAKE_BYTES) {
      this.destroy(new Error(`the TLS handshake is longer than ${MAX_HANDSHAKE_BYTES} bytes`))
      return
    }
    if (!this.#watch.mayContinue()) {
      this.destroy(new SlowHandshakeError())
      return
    }
    this.#stop = this.#watch.start()
    this.#forward(chunk)
    this.#noteTime()
  }

  /** TLS works on the chunk before `push` returns. */
  #forward(chunk: Buffer): void {
    if (!this.push(chunk)) this.#socket.pause()
  }

  #noteTime(): void {
    if (this.#stop === undefined) return
    this.#longestMs = Math.max(this.#longestMs, this.#stop())
    this.#stop = undefined
  }

  override _read(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end(() => callback())
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy()
    callback(error)
  }
}
