import type { StreamEncoder } from '@rideau/llm/formats/shared/server-format'
import type { Frame } from '@rideau/llm/frames/open-frames'
import type { FinishReason } from '@rideau/llm/reply/chat-reply'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Usage } from '@rideau/llm/usage/usage'
import type { OpenStream, StreamSink } from '../attempts/attempt-stream.ts'
import { countEvents, countTokens } from '../billing/count-output.ts'
import type { SpendGuard } from '../limits/spend-guard.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { StreamWriter } from './stream-writer.ts'
import { Transcript } from './transcript.ts'

/** How a stream ended. */
export interface RelayEnd {
  /** undefined: it came to its proper end. */
  readonly error: UpstreamError | undefined
  readonly finishReason: FinishReason
  readonly isFinishSent: boolean
  readonly usage: Usage | undefined
  /** Where the stream broke off before usage came: what had been told of it. */
  readonly partialUsage: Usage | undefined
  readonly isUsageSent: boolean
  /** Output as far as it was seen, for an estimate where no usage came. */
  readonly deliveredTokens: number
  /** A limit's end was reached: the stream was cut by us. */
  readonly isCut: boolean
  readonly transcript: Transcript | undefined
}

export interface RelayOptions {
  readonly ctx: RequestContext
  readonly stream: OpenStream
  readonly encoder: StreamEncoder
  readonly writer: StreamWriter
  readonly includeUsage: boolean
  /** Keep what was said for the log. */
  readonly capture: boolean
  /** Milliseconds without a byte from the provider after which the stream is given up. */
  readonly idleMs: number
  /** Ends the stream where what is held of the caller's limits is used up; absent: nothing limits it. */
  readonly guard?: SpendGuard | undefined
}

/** Carries a provider's stream to the caller: bytes where the formats agree, events where they differ. */
export function relayStream(options: RelayOptions): Promise<RelayEnd> {
  return new Promise(resolve => new Relay(options, resolve).run())
}

class Relay implements StreamSink {
  readonly #options: RelayOptions
  readonly #resolve: (end: RelayEnd) => void
  readonly #transcript: Transcript | undefined
  #usage: Usage | undefined
  #finishReason: FinishReason | undefined
  #hasToolCalls = false
  #deliveredTokens = 0
  #lastByteAt = performance.now()
  /** What went to the caller unread last: where each event tells of usage, it tells the most. */
  #passed: Buffer | undefined
  #isCut = false
  #isDone = false
  /** The last passed chunk is read for its usage: nothing of it goes out again. */
  #isReadingPassed = false

  constructor(options: RelayOptions, resolve: (end: RelayEnd) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#transcript = options.capture ? new Transcript() : undefined
  }

  onFrame(events: readonly StreamEvent[], frame: Frame): void {
    if (this.#isReadingPassed) return this.#noteUsage(events)
    if (this.#isDone || !this.#mayDeliver(countEvents(events))) return
    this.#note(events)
    if (this.#isDone) return
    const bytes = this.#options.encoder.encode(events, frame)
    if (bytes.length > 0) this.#options.writer.write(bytes)
    if (events.some(({ type }) => type === 'end')) this.#finish(undefined)
  }

  run(): void {
    const { ctx, stream, writer, idleMs } = this.#options
    writer.attach(stream.call)
    ctx.watch(
      now => {
        if (writer.isPaused) this.#lastByteAt = now
        else if (now - this.#lastByteAt > idleMs) {
          this.#giveUp({ kind: 'timeout', detail: `no byte in ${idleMs} ms of an open stream` })
        } else writer.tick(now)
      },
      () => this.#giveUp({ kind: 'interrupted', detail: 'stopped by us' }),
    )
    stream.pipe(this)
  }

  onChunk(chunk: Buffer): void {
    if (this.#isDone) return
    this.#lastByteAt = performance.now()
    if (
      this.#transcript === undefined &&
      !this.#options.stream.reader.hasPartial &&
      this.#options.encoder.canPass(chunk)
    ) {
      if (!this.#mayDeliver(countTokens(chunk, this.#options.encoder.countEvents?.(chunk)))) return
      this.#options.writer.write(chunk)
      this.#passed = chunk
      return
    }
    this.#passed = undefined
    try {
      this.#options.stream.reader.push(chunk)
    } catch (error) {
      this.#giveUp({ kind: 'interrupted', detail: `the stream cannot be read: ${String(error)}` })
    }
  }

  onEnd(): void {
    if (this.#isDone) return
    try {
      this.#options.stream.reader.end()
    } catch {
      // A torn last event is a stream that ended early, which is what follows.
    }
    if (this.#isDone) return
    // Not every provider says [DONE]; a finish reason is an end too. Without either the answer is not whole.
    if (this.#finishReason !== undefined) this.#finish(undefined)
    else this.#finish({ kind: 'interrupted', detail: 'the stream ended without a finish reason' })
  }

  onError(error: UpstreamError): void {
    this.#finish({ kind: 'interrupted', detail: error.detail })
  }

  #note(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'usage') this.#usage = event.usage
      else if (event.type === 'error') this.#giveUp(toInterruption(event.error))
      else if (event.type === 'delta') {
        if (event.finishReason !== undefined) this.#finishReason = event.finishReason
        if (event.toolCalls !== undefined) this.#hasToolCalls = true
        this.#transcript?.add(event)
      }
    }
  }

  /** Counts what comes next. What is delivered is paid for: beyond what is held the stream ends here. */
  #mayDeliver(tokens: number): boolean {
    const delivered = this.#deliveredTokens + tokens
    if (tokens === 0 || this.#options.guard?.mayDeliver(delivered) !== false) {
      this.#deliveredTokens = delivered
      return true
    }
    this.#isCut = true
    this.#finishReason = 'length'
    this.#options.stream.call.abort()
    this.#finish(undefined)
    return false
  }

  #noteUsage(events: readonly StreamEvent[]): void {
    for (const event of events) if (event.type === 'usage') this.#usage = event.usage
  }

  #giveUp(error: UpstreamError): void {
    if (this.#isDone) return
    this.#options.stream.call.abort()
    this.#finish(error)
  }

  /** A stream that ends behind events that passed unread was broken off. */
  #readPassed(): void {
    if (this.#passed === undefined) return
    this.#isReadingPassed = true
    try {
      this.#options.stream.reader.push(this.#passed)
    } catch {
      // It reported nothing, then.
    }
  }

  #finish(error: UpstreamError | undefined): void {
    if (this.#isDone) return
    this.#isDone = true
    const { ctx } = this.#options
    ctx.unwatch()
    this.#readPassed()
    this.#resolve({
      error,
      finishReason: this.#finishReason ?? (this.#hasToolCalls ? 'tool_calls' : 'stop'),
      isFinishSent: this.#finishReason !== undefined && !this.#isCut,
      usage: this.#usage,
      partialUsage: this.#usage === undefined ? this.#options.stream.reader.partialUsage() : undefined,
      isUsageSent: this.#usage !== undefined && this.#options.includeUsage,
      deliveredTokens: this.#deliveredTokens,
      isCut: this.#isCut,
      transcript: this.#transcript,
    })
  }
}

/** After the first delivered token every failure is an interruption, but what was told of its cause is kept. */
function toInterruption(error: UpstreamError): UpstreamError {
  return { kind: 'interrupted', detail: `${error.kind}: ${error.detail}` }
}
