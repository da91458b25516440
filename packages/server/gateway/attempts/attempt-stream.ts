import { ChunkBuffer } from '@rideau/llm/frames/chunk-buffer'
import type { Frame } from '@rideau/llm/frames/open-frames'
import { findStreamedModel } from '@rideau/llm/reply/answered-model'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Usage } from '@rideau/llm/usage/usage'
import type { UpstreamCall, UpstreamHandler, UpstreamHeaders } from '../upstream/transport.ts'
import type { AttemptOptions } from './attempt-plain.ts'
import type { AttemptResult } from './attempt-result.ts'
import { NO_ROOM, STOPPED, toCharge, toReportedCharge, toTimeout } from './attempt-whole.ts'
import { type FrameReceiver, StreamReader } from './stream-reader.ts'

/** Receives the frames and chunks of an open stream. */
export interface StreamSink extends FrameReceiver {
  /** Called once, before all chunks. */
  onFirstFrames(frames: readonly DecodedFrame[]): void
  onChunk(chunk: Buffer): void
  onEnd(): void
  onError(error: UpstreamError): void
}

export interface DecodedFrame {
  readonly events: readonly StreamEvent[]
  readonly frame: Frame
}

/** A provider's stream whose first meaningful event has arrived. From now on the caller is answered 200. */
export interface OpenStream {
  readonly call: UpstreamCall
  readonly reader: StreamReader
  /** Passes on the buffered frames and chunks, then every chunk that follows. Called once. */
  pipe(sink: StreamSink): void
}

/** How events of SSE end. A provider uses one of them. */
const ENDS_OF_EVENTS = ['\n\n', '\r\n\r\n'].map(end => Buffer.from(end))

const NOT_FOUND = -1
const NO_HEADERS = (): UpstreamHeaders => ({})

/** Milliseconds for which the usage of an answer that ended with an error is awaited: most providers end the stream at once. */
export const USAGE_WAIT_MS = 1_000

/** The most bytes of an event, and of all that comes before the first meaningful one, besides what they repeat of the request. */
const MAX_OWN_BYTES = 1024 * 1024
/** So much of a request counts as repeated at most: about the longest text that a model reads. An event is parsed in one go. */
const MAX_REPEATED_BYTES = 4 * 1024 * 1024
/** So much of a document that the provider's own tool has fetched. It is sent in one event, as base64 if it is no text. */
const MAX_FETCHED_BYTES = 4 * 1024 * 1024
/** How often a stream repeats its request before the first meaningful event. */
const REPEATS = 2
/** What is buffered before that event takes several times its bytes: for an error, in the parser, as frames and as their texts. */
const BUFFERED_FACTOR = 4
/** Frames before that event. Code that a provider's tool runs comes in some hundred; all of them are passed on in one tick. */
const MAX_FRAMES = 16 * 1024
/** What a frame takes besides its text. */
const FRAME_BYTES = 400

/**
 * One attempt at a stream. Resolves at the first meaningful event, so that an earlier error fails the attempt and not
 * the answer. The ticker calls `onWait` until then.
 */
export function attemptStream(
  options: AttemptOptions,
  onWait: (now: number) => void,
): Promise<AttemptResult<OpenStream>> {
  return new Promise(resolve => {
    const { ctx } = options
    const opening = new StreamAttempt(options, result => {
      ctx.unwatch()
      resolve(result)
    })
    ctx.watch(
      now => {
        if (now > opening.deadline) opening.expire()
        else onWait(now)
      },
      () => opening.giveUp(STOPPED),
    )
    opening.start(options)
  })
}

class StreamAttempt implements OpenStream, FrameReceiver, UpstreamHandler {
  readonly isStream = true
  readonly #ctx: AttemptOptions['ctx']
  readonly #format: AttemptOptions['format']
  readonly #timeoutMs: number
  /** undefined once it was called: it holds the attempt's request, which an open stream does not keep. */
  #settle: ((result: AttemptResult<OpenStream>) => void) | undefined
  /** All bytes before the stream opens, from which an error is decoded. */
  readonly #unopened = new ChunkBuffer()
  /** Chunks of the open stream that were not read yet. */
  #buffered: Buffer[] = []
  /** The frames up to the chunk that opened the stream. */
  #frames: DecodedFrame[] = []
  #bufferedBytes = 0
  readonly #maxBufferedBytes: number
  /** What the request's permit counts: the chunks up to the one that opened the stream. */
  #receivedBytes = 0
  #status = 0
  /** Only an error is decoded with the headers: an open stream does not keep them. */
  #readHeaders = NO_HEADERS
  #isOpen = false
  #end: 'end' | UpstreamError | undefined
  #sink: StreamSink | undefined
  #call: UpstreamCall | undefined
  readonly reader: StreamReader
  /** The last usage that was reported. Some providers report usage from the first frame on. */
  #usage: Usage | undefined
  /** The error with which the answer ended, while its usage may follow. */
  #failure: UpstreamError | undefined
  /** As of performance.now(). */
  deadline: number

  constructor(
    { ctx, format, target, request, timeoutMs, mayFetch }: AttemptOptions,
    settle: (result: AttemptResult<OpenStream>) => void,
  ) {
    this.#ctx = ctx
    this.#format = format
    this.#timeoutMs = timeoutMs
    this.deadline = performance.now() + timeoutMs
    this.#settle = settle
    const repeated = format.repeatsRequest === true ? Math.min(request.body.length, MAX_REPEATED_BYTES) : 0
    const own = mayFetch === true ? MAX_OWN_BYTES + MAX_FETCHED_BYTES : MAX_OWN_BYTES
    this.#maxBufferedBytes = own + REPEATS * repeated
    const options = { maxEventBytes: own + repeated }
    this.reader = new StreamReader(format.framing, format.openStream(target), this, options)
  }

  get isOpening(): boolean {
    return this.#isOpen && this.#sink === undefined
  }

  get call(): UpstreamCall {
    if (this.#call === undefined) throw new Error('the stream was not started')
    return this.#call
  }

  start({ ctx, transport, request }: AttemptOptions): void {
    this.#call = transport.call(request, this, ctx)
  }

  onStart(status: number, readHeaders: () => UpstreamHeaders): void {
    this.#status = status
    this.#readHeaders = readHeaders
  }

  pipe(sink: StreamSink): void {
    const [frames, buffered] = [this.#frames, this.#buffered]
    this.#frames = []
    this.#buffered = []
    this.#sink = sink
    this.reader.receiver = sink
    this.#ctx.permit?.dropReceived(this.#receivedBytes)
    try {
      sink.onFirstFrames(frames)
      for (const chunk of buffered) sink.onChunk(chunk)
      if (this.#end === 'end') sink.onEnd()
      else if (this.#end !== undefined) sink.onError(this.#end)
    } catch (error) {
      this.#ctx.fail(error, 'the first chunks of a stream')
    }
  }

  onFrame(events: readonly StreamEvent[], frame: Frame): void {
    if (this.#hasFailed) return
    this.#frames.push({ events, frame })
    if (!this.#isOpen) this.#inspect(events)
  }

  /** Ends the attempt, since its time is up. */
  expire(): void {
    if (this.#failure !== undefined) this.#report(this.#failure)
    else this.giveUp(toTimeout(this.#call, this.#timeoutMs, 'event'))
  }

  giveUp(error: UpstreamError): void {
    if (this.#isSettled) return
    this.#call?.abort()
    this.#fail(error, error.status === undefined ? 'stopped' : 'unreadable')
  }

  onData(chunk: Buffer): void {
    if (this.#sink !== undefined) return this.#sink.onChunk(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#isOpen) {
      this.#buffered.push(chunk)
      return
    }
    if (!this.#receive(BUFFERED_FACTOR * chunk.length)) return this.giveUp(NO_ROOM)
    this.#unopened.add(chunk)
    if (this.#bufferedBytes > this.#maxBufferedBytes) return this.#giveUpOpening()
    if (this.#status < 200 || this.#status >= 300) return
    try {
      const { length } = this.#frames
      const rest = this.#readUntilOpen(chunk)
      // What was counted is dropped already.
      if (this.#hasFailed) return
      const hasRoom = this.#receive(FRAME_BYTES * (this.#frames.length - length))
      if (!this.#isOpen) {
        if (!hasRoom) this.giveUp(NO_ROOM)
        else if (this.#frames.length > MAX_FRAMES) this.#giveUpOpening()
        return
      }
      this.#unopened.clear()
      if (rest.length > 0) this.#buffered.push(rest)
    } catch (error) {
      this.#endUnreadable({ kind: 'unavailable', status: this.#status, detail: String(error) })
    }
  }

  /** Ends a stream whose reader threw: the attempt, or what follows the frames that were read before. */
  #endUnreadable(error: UpstreamError): void {
    if (!this.#isOpen) return this.giveUp(error)
    this.#call?.abort()
    this.#end = error
  }

  /** Returns false if there is no room for so many bytes. */
  #receive(bytes: number): boolean {
    if (this.#ctx.permit?.receive(bytes) === false) return false
    this.#receivedBytes += bytes
    return true
  }

  #giveUpOpening(): void {
    const detail = `no output in the first ${this.#bufferedBytes} bytes and ${this.#frames.length} events`
    this.giveUp({ kind: 'unavailable', status: this.#status, detail })
  }

  /**
   * Reads event by event, since those behind the one that opens the stream may pass undecoded: one read of a socket brings many.
   * Returns the bytes that were not read.
   */
  #readUntilOpen(chunk: Buffer): Buffer {
    const isSse = this.#format.framing === 'sse'
    const end = isSse ? ENDS_OF_EVENTS.find(end => chunk.includes(end)) : undefined
    let rest = chunk
    while (rest.length > 0 && !this.#isSettled) {
      const at = end === undefined ? NOT_FOUND : rest.indexOf(end)
      const next = end === undefined || at === NOT_FOUND ? rest : rest.subarray(0, at + end.length)
      rest = rest.subarray(next.length)
      this.reader.push(next)
    }
    return rest
  }

  /**
   * Opens the stream at the first meaningful event. A role alone is not meaningful, nor is a text whose frame reports an
   * error too: a fallback after it is still invisible to the caller. A stream that ends before one is interrupted.
   */
  #inspect(events: readonly StreamEvent[]): void {
    const counted = events.findLast(event => event.type === 'usage')
    if (counted !== undefined) this.#usage = counted.usage
    const failed = this.#failure === undefined ? events.find(event => event.type === 'error') : undefined
    if (failed !== undefined) {
      this.#failure = { status: this.#status, ...failed.error }
      if (failed.index === undefined || counted !== undefined) return this.#report(this.#failure)
      this.deadline = Math.min(this.deadline, performance.now() + USAGE_WAIT_MS)
      return
    }
    if (this.#failure !== undefined) {
      if (counted !== undefined || events.some(({ type }) => type === 'end')) this.#report(this.#failure)
      return
    }
    for (const event of events) {
      // Nothing was said, so the caller loses nothing by another attempt.
      if (event.type === 'end') return this.giveUp(this.#endedEmpty())
      if (event.type !== 'delta' || !carriesSomething(event)) continue
      this.#isOpen = true
      this.#readHeaders = NO_HEADERS
      this.#settleOnce({ ok: true, status: this.#status, value: this, model: this.#findModel() })
      return
    }
  }

  /** Only traces need it, and it takes parsing the first events once more. */
  #findModel(): string | undefined {
    return this.#ctx.trace === undefined
      ? undefined
      : findStreamedModel(this.#frames.map(({ frame }) => frame))
  }

  onEnd(): void {
    if (this.#sink !== undefined) return this.#sink.onEnd()
    if (this.#isOpen) {
      this.#end = 'end'
      return
    }
    if (this.#failure !== undefined) return this.#report(this.#failure)
    const body = this.#unopened.peek().toString('utf8')
    if (this.#status < 200 || this.#status >= 300 || looksLikeError(body)) {
      this.#fail(this.#format.decodeError(this.#status, this.#readHeaders(), body), 'reported')
    } else {
      this.#fail(this.#endedEmpty(), 'unreadable')
    }
  }

  #endedEmpty(): UpstreamError {
    return { kind: 'interrupted', status: this.#status, detail: 'the stream ended before its first event' }
  }

  onFail(error: UpstreamError): void {
    if (this.#sink !== undefined) return this.#sink.onError(error)
    if (this.#isOpen) this.#end = error
    else if (this.#failure !== undefined) this.#report(this.#failure)
    else this.#fail(this.#status === 0 ? error : { ...error, status: this.#status }, 'unreadable')
  }

  onCrash(error: unknown): void {
    this.#ctx.fail(error, 'a callback of an upstream call')
  }

  /** Ends the attempt with an error that the provider itself reported in the stream. */
  #report(error: UpstreamError): void {
    this.#call?.abort()
    this.#fail(error, 'reported')
  }

  /** `reported`: the provider itself reported the failure, so it charges nothing but the usage that it counted before. */
  #fail(error: UpstreamError, why: 'reported' | 'unreadable' | 'stopped'): void {
    if (this.#isSettled) return
    this.#ctx.permit?.dropReceived(this.#receivedBytes)
    if (why === 'reported') {
      const charge = toReportedCharge(this.#usage, this.#bufferedBytes)
      return this.#settleOnce({ ok: false, error, charge })
    }
    const charge = toCharge({
      sentAt: this.#call?.sentAt,
      status: this.#status,
      isCutByUs: why === 'stopped',
      bytes: this.#bufferedBytes,
      usage: this.#usage ?? this.reader.partialUsage(),
    })
    this.#settleOnce({ ok: false, error, charge })
  }

  get #isSettled(): boolean {
    return this.#settle === undefined
  }

  get #hasFailed(): boolean {
    return this.#isSettled && !this.#isOpen
  }

  #settleOnce(result: AttemptResult<OpenStream>): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(result)
  }
}

function carriesSomething(event: StreamEvent & { type: 'delta' }): boolean {
  return (
    event.finishReason !== undefined ||
    event.toolCalls !== undefined ||
    (event.content !== undefined && event.content !== '') ||
    (event.reasoning !== undefined && event.reasoning !== '') ||
    (event.refusal !== undefined && event.refusal !== '')
  )
}

/** Some providers answer a stream request with 200 and a plain JSON error. */
function looksLikeError(body: string): boolean {
  const start = body.trimStart()
  return start.startsWith('{') && start.includes('"error"')
}
