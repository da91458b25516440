import type { Framing } from '@rideau/llm/frames/framing'
import { type Frame, type FrameOptions, type FrameParser, openFrames } from '@rideau/llm/frames/open-frames'
import { assertBoundedEvent } from '@rideau/llm/json/bounded-event'
import { DETAIL_BYTES, MAX_DETAILS, sizeOf, tooManyDetails } from '@rideau/llm/reply/reasoning-detail'
import type { DeltaEvent, StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import type { Usage } from '@rideau/llm/usage/usage'
import { AnsweredCalls } from './answered-calls.ts'

/** Receives the frames of a stream. */
export interface FrameReceiver {
  /** Called for each frame, with its decoded events and its raw bytes. */
  onFrame(events: readonly StreamEvent[], frame: Frame): void
}

/**
 * The most bytes of a stream that are decoded, which is more than the longest answers have. Decoders and encoders keep parts of
 * them until the end, which take several times as much.
 */
const MAX_DECODED_BYTES = 128 * 1024 * 1024
/** From here on all bytes count, whatever is kept of them: few answers are as long. */
const UNCOUNTED_BYTES = 16 * 1024 * 1024
/** The reasoning of one stream, in characters: it comes as text, and some decoders repeat all of it as one detail. */
const MAX_REASONING = 4 * 1024 * 1024
/** What a decoder keeps of one stream, in bytes, and may pass on in one event. */
const MAX_UNSENT = 16 * 1024 * 1024
/** Parsers keep an event and its last line, each in a block that may be half empty. */
const PARTIAL_FACTOR = 4

/** Reads a provider's stream. Every frame is parsed and decoded once. */
export class StreamReader {
  readonly #parser: FrameParser
  readonly #decoder: StreamDecoder
  #calls: AnsweredCalls | undefined
  #bytes = 0
  /** Characters of the events so far. */
  #carried = 0
  /** Those of them that are reasoning. */
  #reasoning = 0
  /** Details of reasoning so far. */
  #details = 0
  /** Bytes since the last frame, within a chunk. */
  #partial = 0
  #hasEnded = false
  /** Receives the frames of the next chunk. Replaced when the stream opens. */
  receiver: FrameReceiver

  constructor(framing: Framing, decoder: StreamDecoder, receiver: FrameReceiver, options?: FrameOptions) {
    this.receiver = receiver
    this.#decoder = decoder
    const onFrame = (frame: Frame): void => {
      // A provider could send any number of ends, each of which is decoded with all that is kept of the answer.
      if (this.#hasEnded) return
      this.#partial = 0
      assertBoundedEvent(frame.data)
      const events = decoder.decode(frame.data, frame.event)
      this.#noteEvents(events)
      this.receiver.onFrame(events, frame)
    }
    this.#parser = openFrames(framing, onFrame, options)
  }

  #noteEvents(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'end') this.#hasEnded = true
      if (event.type !== 'delta') continue
      const reasoning = measureReasoning(event)
      this.#reasoning += reasoning
      if (this.#reasoning > MAX_REASONING) throw new Error('the reasoning of the stream is too long')
      this.#carried += reasoning + measure(event)
      this.#details += event.reasoningDetails?.length ?? 0
      if (this.#details > MAX_DETAILS) throw tooManyDetails()
      if (event.toolCalls === undefined) continue
      this.#calls ??= new AnsweredCalls()
      this.#calls.add(event.toolCalls)
    }
  }

  /** Parses a chunk. Throws if it cannot be read; the reader must not be used afterwards. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#partial += chunk.length
    if (this.#bytes > MAX_DECODED_BYTES) throw new Error('the stream is too long')
    this.#parser.push(chunk)
    if ((this.#decoder.unsent ?? 0) > MAX_UNSENT)
      throw new Error('too much of the stream waits for what follows it')
  }

  /**
   * About how many bytes are kept of the stream until its end: encoders may keep what events carry. Frames are much longer than that,
   * so not all bytes count.
   */
  get kept(): number {
    const unread = Math.max(0, this.#bytes - UNCOUNTED_BYTES)
    return this.#carried + PARTIAL_FACTOR * this.#partial + (this.#decoder.unsent ?? 0) + unread
  }

  /** Ends the stream. Throws if its last frame is incomplete. */
  end(): void {
    this.#parser.end()
  }

  /** Whether the last chunk ended within a frame. */
  get hasPartial(): boolean {
    return this.#parser.hasPartial()
  }

  /** The usage reported so far. */
  partialUsage(): Usage | undefined {
    return this.#decoder.partialUsage?.()
  }
}

/** The characters of an event besides its reasoning. */
function measure({ content, refusal, toolCalls }: DeltaEvent): number {
  let size = (content?.length ?? 0) + (refusal?.length ?? 0)
  if (toolCalls !== undefined) {
    for (const { id, function: fn } of toolCalls)
      size += (id?.length ?? 0) + (fn?.name?.length ?? 0) + (fn?.arguments?.length ?? 0)
  }
  return size
}

/** The characters of an event's reasoning, and what its details take. */
function measureReasoning({ reasoning, reasoningDetails }: DeltaEvent): number {
  let size = reasoning?.length ?? 0
  if (reasoningDetails !== undefined) {
    for (const detail of reasoningDetails) size += DETAIL_BYTES + sizeOf(detail)
  }
  return size
}
