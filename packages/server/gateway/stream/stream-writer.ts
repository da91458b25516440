import type { EarlyStart, KeepAlive } from '@rideau/llm/formats/shared/server-format'
import { compactHead } from '../../http/answer/write-head.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { UpstreamCall } from '../upstream/transport.ts'

/** Silence in milliseconds after which something is sent, so that proxies keep the connection open. */
const KEEP_ALIVE_MS = 15_000
const COMMENT = ': keep-alive\n\n'

/**
 * The caller's side of a stream. Sends the head with the first byte, applies backpressure to the provider, and sends
 * keep-alives.
 */
export class StreamWriter {
  readonly #ctx: RequestContext
  readonly #openHeaders: () => void
  readonly #keepAlive: KeepAlive
  /** The start of the next frame, where a keep-alive has sent it already; empty: none has. */
  #sentStart = ''
  #lastWriteAt: number
  #isBatching = false
  /** The first piece that was written since startBatch. Most batches have no other. */
  #first: string | Uint8Array | undefined
  #others: (string | Uint8Array)[] | undefined
  /** Something was written since the last tick. */
  #hasWritten = false
  #source: UpstreamCall | undefined
  #isPaused = false

  /**
   * `openHeaders` writes the 200 head. It is called once, before the first byte. `keepAlive` is sent during silence.
   */
  constructor(ctx: RequestContext, openHeaders: () => void, keepAlive: KeepAlive = COMMENT) {
    this.#ctx = ctx
    this.#openHeaders = openHeaders
    this.#keepAlive = keepAlive
    this.#lastWriteAt = ctx.startedAt
    const resume = (): void => {
      try {
        this.#resume()
      } catch (error) {
        // Resuming can deliver buffered data at once, and its handlers may throw.
        ctx.fail(error, 'a stream that goes on')
      }
    }
    ctx.res.on('drain', resume)
    // No 'drain' event fires after the caller disconnects.
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

  /** True while the caller reads too slowly. The provider's silence is then no timeout. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Sets the call to pause while the caller reads slowly. */
  attach(source: UpstreamCall): void {
    this.#source = source
    if (this.#isPaused) source.pause()
  }

  write(bytes: string | Uint8Array): void {
    const { recorder } = this.#ctx
    if (recorder !== undefined) recorder.add(bytes)
    if (this.#ctx.isGone) return
    if (!this.#isBatching) this.#send(bytes)
    else if (this.#first === undefined) this.#first = bytes
    else if (this.#others === undefined) this.#others = [bytes]
    else this.#others.push(bytes)
  }

  #send(bytes: string | Uint8Array): void {
    const { res } = this.#ctx
    if (!res.headersSent) {
      this.#openHeaders()
      compactHead(res)
    }
    this.#ctx.firstByteAt ??= performance.now()
    this.#hasWritten = true
    if (!res.write(this.withoutStart(bytes))) this.#pause()
  }

  /** Returns what is to be sent of a frame whose start may have gone out as a keep-alive. */
  withoutStart(frame: string | Uint8Array): string | Uint8Array {
    if (this.#sentStart === '') return frame
    const { length } = this.#sentStart
    this.#sentStart = ''
    return typeof frame === 'string' ? frame.slice(length) : frame.subarray(length)
  }

  /** What is written until endBatch goes out as one piece. Both are called in the same tick. */
  startBatch(): void {
    this.#isBatching = true
  }

  endBatch(): void {
    this.#isBatching = false
    const first = this.#first
    if (first === undefined) return
    const others = this.#others
    this.#first = undefined
    this.#others = undefined
    this.#send(others === undefined ? first : join([first, ...others]))
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#source?.pause()
  }

  end(bytes?: string | Uint8Array): void {
    if (bytes !== undefined) this.write(bytes)
    if (!this.#ctx.isGone) this.#ctx.res.end()
    // The rest of the provider's stream is only its end, and no 'drain' event fires after end().
    this.#resume()
  }

  /** Sends a keep-alive after a silence. Called by the ticker. */
  tick(now: number): void {
    if (this.#hasWritten) {
      this.#hasWritten = false
      this.#lastWriteAt = now
    }
    if (this.#isPaused || this.#ctx.isGone || now - this.#lastWriteAt < KEEP_ALIVE_MS) return
    const { res } = this.#ctx
    if (!res.headersSent) this.#openHeaders()
    this.#lastWriteAt = now
    const bytes = this.#takeKeepAlive()
    if (bytes.length === 0) res.flushHeaders()
    else if (!res.write(bytes)) this.#pause()
  }

  #takeKeepAlive(): string | Uint8Array {
    const keepAlive = this.#keepAlive
    if (!isEarlyStart(keepAlive)) return keepAlive
    if (this.#sentStart !== '') return keepAlive.filler
    this.#sentStart = keepAlive.start
    return keepAlive.start
  }
}

function isEarlyStart(keepAlive: KeepAlive): keepAlive is EarlyStart {
  return typeof keepAlive === 'object' && 'start' in keepAlive
}

function join(batch: readonly (string | Uint8Array)[]): string | Uint8Array {
  if (batch.every(frame => typeof frame === 'string')) return batch.join('')
  return Buffer.concat(batch.map(frame => (typeof frame === 'string' ? Buffer.from(frame) : frame)))
}
