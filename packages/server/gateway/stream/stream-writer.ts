import type { RequestContext } from '../request/request-context.ts'
import type { UpstreamCall } from '../upstream/transport.ts'

/** Silence after which something goes out, so that proxies between us and the caller keep the connection. */
const KEEP_ALIVE_MS = 15_000
const COMMENT = ': keep-alive\n\n'

/** The caller's side of a stream: headers late, backpressure kept, silence filled. */
export class StreamWriter {
  readonly #ctx: RequestContext
  readonly #openHeaders: () => void
  readonly #keepAlive: string | Uint8Array
  #lastWriteAt: number
  #source: UpstreamCall | undefined
  #isPaused = false

  /** `openHeaders` writes the 200 head; it is called once, at the first byte. `keepAlive` fills the silence. */
  constructor(ctx: RequestContext, openHeaders: () => void, keepAlive: string | Uint8Array = COMMENT) {
    this.#ctx = ctx
    this.#openHeaders = openHeaders
    this.#keepAlive = keepAlive
    this.#lastWriteAt = ctx.startedAt
    const resume = (): void => {
      try {
        this.#resume()
      } catch (error) {
        // The provider's client reads on at once, and hands over what it has.
        ctx.fail(error, 'a stream that goes on')
      }
    }
    ctx.res.on('drain', resume)
    // Who leaves while the provider waits for it never drains.
    ctx.res.on('close', resume)
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#source?.resume()
  }

  get isOpen(): boolean {
    return this.#ctx.res.headersSent
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
    const { res } = this.#ctx
    if (this.#ctx.isGone) return
    if (!res.headersSent) this.#openHeaders()
    this.#ctx.firstByteAt ??= performance.now()
    this.#lastWriteAt = performance.now()
    if (!res.write(bytes) && !this.#isPaused) {
      this.#isPaused = true
      this.#source?.pause()
    }
  }

  end(bytes?: string | Uint8Array): void {
    if (bytes !== undefined) this.write(bytes)
    if (!this.#ctx.isGone) this.#ctx.res.end()
    // What the provider has still to say is its end, and an ended answer tells of no drain.
    this.#resume()
  }

  /** Fills the silence; called by the clock. */
  tick(now: number): void {
    if (this.#isPaused || this.#ctx.isGone || now - this.#lastWriteAt < KEEP_ALIVE_MS) return
    const { res } = this.#ctx
    if (!res.headersSent) this.#openHeaders()
    if (this.#keepAlive.length > 0) res.write(this.#keepAlive)
    else res.flushHeaders()
    this.#lastWriteAt = now
  }
}
