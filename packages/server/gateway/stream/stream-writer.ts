import type { Exchange } from '../request/request-context.ts'
import type { UpstreamCall } from '../upstream/transport.ts'

/** Silence after which something goes out, so that proxies between us and the caller keep the connection. */
const KEEP_ALIVE_MS = 15_000
const COMMENT = ': keep-alive\n\n'

/** The caller's side of a stream: headers late, backpressure kept, silence filled. */
export class StreamWriter {
  readonly #x: Exchange
  readonly #openHeaders: () => void
  readonly #keepAlive: string | Uint8Array
  #lastWriteAt: number
  #source: UpstreamCall | undefined
  #isPaused = false

  /** `openHeaders` writes the 200 head; it is called once, at the first byte. `keepAlive` fills the silence. */
  constructor(x: Exchange, openHeaders: () => void, keepAlive: string | Uint8Array = COMMENT) {
    this.#x = x
    this.#openHeaders = openHeaders
    this.#keepAlive = keepAlive
    this.#lastWriteAt = x.startedAt
    const goOn = (): void => {
      try {
        this.#goOn()
      } catch (error) {
        // The provider's client reads on at once, and hands over what it has.
        x.fail(error, 'a stream that goes on')
      }
    }
    x.res.on('drain', goOn)
    // Who leaves while the provider waits for it never drains.
    x.res.on('close', goOn)
  }

  #goOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#source?.resume()
  }

  get isOpen(): boolean {
    return this.#x.res.headersSent
  }

  /** True while the caller reads too slowly: its silence is not the provider's. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The call to hold back while the caller reads slowly. */
  attach(source: UpstreamCall): void {
    this.#source = source
  }

  write(bytes: string | Uint8Array): void {
    const { res } = this.#x
    if (this.#x.isGone) return
    if (!res.headersSent) this.#openHeaders()
    this.#x.firstByteAt ??= performance.now()
    this.#lastWriteAt = performance.now()
    if (!res.write(bytes) && !this.#isPaused) {
      this.#isPaused = true
      this.#source?.pause()
    }
  }

  end(bytes?: string | Uint8Array): void {
    if (bytes !== undefined) this.write(bytes)
    if (!this.#x.isGone) this.#x.res.end()
    // What the provider has still to say is its end, and an ended answer tells of no drain.
    this.#goOn()
  }

  /** Fills the silence; called by the clock. */
  tick(now: number): void {
    if (this.#isPaused || this.#x.isGone || now - this.#lastWriteAt < KEEP_ALIVE_MS) return
    const { res } = this.#x
    if (!res.headersSent) this.#openHeaders()
    if (this.#keepAlive.length > 0) res.write(this.#keepAlive)
    else res.flushHeaders()
    this.#lastWriteAt = now
  }
}
