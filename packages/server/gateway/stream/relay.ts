import type { StreamEncoder } from '@rideau/llm/formats/shared/answers/stream-encoder'
import type { Frame } from '@rideau/llm/frames/open-frames'
import type { FinishReason } from '@rideau/llm/reply/chat-reply'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Usage } from '@rideau/llm/usage/usage'
import {
  type DecodedFrame,
  type OpenStream,
  type StreamSink,
  USAGE_WAIT_MS,
} from '../attempts/attempt-stream.ts'
import { NO_ROOM, STOPPED } from '../attempts/attempt-whole.ts'
import { countEvents, countTokens } from '../billing/count-output.ts'
import { StreamUsage } from '../billing/stream-usage.ts'
import {
  hasReasoningDelta,
  hasVisibleDelta,
  isReasoningDelta,
  isVisibleDelta,
} from '../billing/visible-output.ts'
import type { SpendGuard } from '../limits/spend-guard.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { StreamWriter } from './stream-writer.ts'
import { Transcript } from './transcript.ts'

/** How a stream ended. */
export interface RelayEnd {
  /** undefined: the stream ended properly. */
  readonly error: UpstreamError | undefined
  readonly finishReason: FinishReason
  readonly isFinishSent: boolean
  readonly usage: Usage | undefined
  /** The usage that was reported before the stream broke off. */
  readonly partialUsage: Usage | undefined
  readonly isUsageSent: boolean
  /** Output tokens delivered so far. Used for an estimate if no usage was reported. */
  readonly deliveredTokens: number
  /** The stream has shown output, so that output tokens of 0 cannot be true. */
  readonly hasVisibleOutput: boolean
  /** The stream has shown reasoning. Only looked for with `findsReasoning`. */
  readonly hasVisibleReasoning: boolean
  /** True if the gateway ended the stream because a limit was reached. */
  readonly isCut: boolean
  /** True if the gateway ended the stream because there was no room for what it keeps of it. */
  readonly hasNoRoom: boolean
  readonly transcript: Transcript | undefined
}

export interface RelayOptions {
  readonly ctx: RequestContext
  readonly stream: OpenStream
  readonly encoder: StreamEncoder
  readonly writer: StreamWriter
  readonly includeUsage: boolean
  /** Whether to collect the answer for the log. */
  readonly capture: boolean
  /** Whether to look for reasoning, which makes output dearer at some models. */
  readonly findsReasoning?: boolean
  /** Milliseconds without a byte of the provider after which the stream fails. */
  readonly idleMs: number
  /** Ends the stream when its reservation is used up and cannot be extended. Absent: no limit applies. */
  readonly guard?: SpendGuard | undefined
}

/** What is kept of a stream is counted in steps of this many bytes. */
const KEPT_STEP = 8 * 1024

/** Relays a provider's stream to the caller: as raw bytes if the formats agree, otherwise as re-encoded events. */
export function relayStream(options: RelayOptions): Promise<RelayEnd> {
  return new Promise(resolve => new Relay(options, resolve).run())
}

class Relay implements StreamSink {
  readonly #options: RelayOptions
  readonly #resolve: (end: RelayEnd) => void
  readonly #transcript: Transcript | undefined
  readonly #usage = new StreamUsage()
  #finishReason: FinishReason | undefined
  #hasToolCalls = false
  #hasVisibleReasoning = false
  #deliveredTokens = 0
  #lastByteAt = performance.now()
  /** Bytes have come since the last tick. A clock read for each event costs more than a tick's precision is worth. */
  #hasBytes = false
  /**
   * The last chunk that was passed on undecoded. Formats that report usage in every event report the total in the last
   * one.
   */
  #passed: Buffer | undefined
  /** Why the answer failed, while its usage may follow until a time as of performance.now(). */
  #failure: { readonly error: UpstreamError; readonly until: number } | undefined
  #isCut = false
  #hasNoRoom = false
  /** The bytes that the request's permit counts. */
  #kept = 0
  #isDone = false
  /** True while the last passed chunk is decoded for its usage. Nothing of it may be sent again. */
  #isReadingPassed = false

  constructor(options: RelayOptions, resolve: (end: RelayEnd) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#transcript = options.capture ? new Transcript() : undefined
  }

  onFirstFrames(frames: readonly DecodedFrame[]): void {
    const { writer } = this.#options
    writer.startBatch()
    try {
      for (const { events, frame } of frames) this.onFrame(events, frame)
    } finally {
      writer.endBatch()
    }
  }

  onFrame(events: readonly StreamEvent[], frame: Frame): void {
    if (this.#isReadingPassed) return this.#noteUsage(events)
    if (this.#failure !== undefined) return this.#awaitUsage(events)
    if (this.#isDone || !this.#mayDeliver(countEvents(events))) return
    this.#note(events)
    if (this.#isDone) return
    const bytes = this.#options.encoder.encode(events, frame)
    if (bytes.length > 0) this.#options.writer.write(bytes)
    this.#awaitUsage(events)
    if (events.some(({ type }) => type === 'end')) this.#finish(undefined)
  }

  run(): void {
    const { ctx, stream, writer, idleMs } = this.#options
    writer.attach(stream.call)
    ctx.watch(
      now => {
        if (writer.isPaused || this.#hasBytes) {
          this.#hasBytes = false
          this.#lastByteAt = now
        } else if (now - this.#lastByteAt > idleMs) {
          this.#giveUp({ kind: 'timeout', detail: `no byte in ${idleMs} ms of an open stream` })
          return
        }
        if (this.#failure !== undefined && now > this.#failure.until) {
          this.#giveUp(this.#failure.error)
          return
        }
        writer.tick(now)
      },
      () => this.#giveUp(STOPPED),
    )
    stream.pipe(this)
    this.#endIfFull()
  }

  onChunk(chunk: Buffer): void {
    if (this.#isDone) return
    this.#hasBytes = true
    const { writer } = this.#options
    writer.startBatch()
    try {
      const rest = this.#pass(chunk)
      if (rest !== undefined) this.#read(rest)
    } finally {
      writer.endBatch()
    }
  }

  #read(chunk: Buffer): void {
    this.#passed = undefined
    try {
      this.#options.stream.reader.push(chunk)
    } catch (error) {
      this.#giveUp({ kind: 'interrupted', detail: `the stream cannot be read: ${String(error)}` })
    }
    this.#endIfFull()
  }

  /** Ends the stream if there is no room for what is kept of it. */
  #endIfFull(): void {
    if (this.#isDone || this.#countKept()) return
    this.#hasNoRoom = true
    // At once, since others would fail too until this request has ended.
    this.#options.ctx.permit?.dropReceived(this.#kept)
    this.#giveUp(toInterruption(NO_ROOM))
  }

  /** Returns false if there is no room for what is kept of the stream. */
  #countKept(): boolean {
    const { ctx, stream, encoder } = this.#options
    const more = stream.reader.kept + (encoder.kept ?? 0) - this.#kept
    if (Math.abs(more) < KEPT_STEP || ctx.permit === undefined) return true
    if (more > 0 && !ctx.permit.receive(more)) return false
    if (more < 0) ctx.permit.dropReceived(-more)
    this.#kept += more
    return true
  }

  /** Passes on the events at the start of a chunk that may go unread. Returns the rest; undefined if there is none. */
  #pass(chunk: Buffer): Buffer | undefined {
    if (
      this.#failure !== undefined ||
      this.#transcript !== undefined ||
      this.#options.stream.reader.hasPartial
    )
      return chunk
    const { encoder, writer } = this.#options
    const length = encoder.measurePassable(chunk)
    if (length === 0) return chunk
    const events = length === chunk.length ? chunk : chunk.subarray(0, length)
    if (!this.#mayDeliver(countTokens(events, encoder.countEvents?.(events)))) return undefined
    writer.write(encoder.pass?.(events) ?? events)
    this.#passed = events
    // Few streams report usage before their end, so that few chunks are searched.
    if (!this.#usage.isReported || hasVisibleDelta(events)) this.#usage.noteVisibleOutput()
    if (this.#mayFindReasoning && hasReasoningDelta(events)) this.#hasVisibleReasoning = true
    return length === chunk.length || this.#isDone ? undefined : chunk.subarray(length)
  }

  onEnd(): void {
    if (this.#isDone) return
    let torn: UpstreamError | undefined
    try {
      this.#options.stream.reader.end()
    } catch (error) {
      torn = { kind: 'interrupted', detail: `the stream cannot be read: ${String(error)}` }
    }
    if (this.#isDone) return
    const error = this.#failure?.error ?? torn
    if (error !== undefined) return this.#finish(error)
    // Some providers omit [DONE], so a finish reason also ends a stream. Without either the answer is incomplete.
    if (this.#finishReason !== undefined) this.#finish(undefined)
    else this.#finish({ kind: 'interrupted', detail: 'the stream ended without a finish reason' })
  }

  onError(error: UpstreamError): void {
    this.#finish(this.#failure?.error ?? { kind: 'interrupted', detail: error.detail })
  }

  #note(events: readonly StreamEvent[]): void {
    // The usage of an event counts the output in it, whichever stands first.
    if (events.some(event => event.type === 'delta' && isVisibleDelta(event))) this.#usage.noteVisibleOutput()
    for (const event of events) {
      if (event.type === 'usage') this.#usage.report(event.usage)
      else if (event.type === 'error') this.#fail(event)
      else if (event.type === 'delta') {
        if (event.finishReason !== undefined) this.#finishReason = this.#correct(event.finishReason)
        if (event.toolCalls !== undefined) this.#hasToolCalls = true
        if (this.#mayFindReasoning && isReasoningDelta(event)) this.#hasVisibleReasoning = true
        this.#transcript?.add(event)
      }
    }
  }

  /** The decoder calls it a stop if it has seen no calls, because all of them passed undecoded. */
  #correct(reason: FinishReason): FinishReason {
    return reason === 'stop' && this.#options.encoder.hasPassedCalls === true ? 'tool_calls' : reason
  }

  /**
   * Counts tokens before they are delivered. Delivered tokens are billed, so the stream ends where its reservation
   * does.
   */
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

  /** An answer whose choice ended with an error is billed by the usage that follows, so it is read until then. */
  #fail({ error, index }: Extract<StreamEvent, { type: 'error' }>): void {
    const interruption = toInterruption(error)
    if (index === undefined) return this.#giveUp(interruption)
    this.#failure = { error: interruption, until: performance.now() + USAGE_WAIT_MS }
  }

  #awaitUsage(events: readonly StreamEvent[]): void {
    if (this.#failure === undefined) return
    this.#noteUsage(events)
    if (events.some(({ type }) => type === 'usage' || type === 'end')) this.#giveUp(this.#failure.error)
  }

  #noteUsage(events: readonly StreamEvent[]): void {
    for (const event of events) if (event.type === 'usage') this.#usage.report(event.usage)
  }

  #giveUp(error: UpstreamError): void {
    if (this.#isDone) return
    this.#options.stream.call.abort()
    this.#finish(error)
  }

  /** Decodes the last passed chunk for its usage, since the stream ended without a decoded event after it. */
  #readPassed(): void {
    if (this.#passed === undefined) return
    this.#isReadingPassed = true
    try {
      this.#options.stream.reader.push(this.#passed)
    } catch {
      // A chunk that cannot be decoded reports no usage.
    }
  }

  get #mayFindReasoning(): boolean {
    return this.#options.findsReasoning === true && !this.#hasVisibleReasoning
  }

  #finish(error: UpstreamError | undefined): void {
    if (this.#isDone) return
    this.#isDone = true
    const { ctx, stream } = this.#options
    ctx.unwatch()
    this.#readPassed()
    // Some providers keep the answer open after its last event.
    stream.call.finish()
    this.#resolve({
      error,
      finishReason: this.#finishReason ?? (this.#hasToolCalls ? 'tool_calls' : 'stop'),
      isFinishSent: this.#finishReason !== undefined && !this.#isCut,
      usage: this.#usage.whole,
      partialUsage:
        this.#usage.part ?? (this.#usage.isReported ? undefined : this.#options.stream.reader.partialUsage()),
      isUsageSent: this.#usage.whole !== undefined && this.#options.includeUsage,
      deliveredTokens: this.#deliveredTokens,
      hasVisibleOutput: this.#usage.hasVisibleOutput,
      hasVisibleReasoning: this.#hasVisibleReasoning,
      isCut: this.#isCut,
      hasNoRoom: this.#hasNoRoom,
      transcript: this.#transcript,
    })
  }
}

/** Every failure after the first delivered token is an interruption. The cause is kept in the detail. */
function toInterruption(error: UpstreamError): UpstreamError {
  return { kind: 'interrupted', detail: `${error.kind}: ${error.detail}` }
}
