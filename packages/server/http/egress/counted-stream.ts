import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** What a chain of four certificates with RSA-4096 keys and 100 names takes twice. */
export const MAX_HANDSHAKE_BYTES = 16_384

/**
 * The bytes of a socket, between it and its TLS. Ends the connection if more than MAX_HANDSHAKE_BYTES arrive before
 * `endHandshake` is called, and passes none of the chunk that is too much on. A TLS socket alone reads its handshake
 * without JavaScript, so nothing else sees how long it is before OpenSSL has verified all of it.
 */
export class CountedStream extends Duplex {
  readonly #socket: Socket
  #handshakeBytes: number | undefined = 0

  constructor(socket: Socket) {
    super({ readableHighWaterMark: socket.readableHighWaterMark, writableHighWaterMark: 0 })
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', error => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  endHandshake(): void {
    this.#handshakeBytes = undefined
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return
    if (this.#handshakeBytes !== undefined) {
      this.#handshakeBytes += chunk.length
      if (this.#handshakeBytes > MAX_HANDSHAKE_BYTES) {
        this.destroy(new Error(`the TLS handshake is longer than ${MAX_HANDSHAKE_BYTES} bytes`))
        return
      }
    }
    if (!this.push(chunk)) this.#socket.pause()
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
