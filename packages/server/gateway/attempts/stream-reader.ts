import type { Framing } from '@rideau/llm/frames/framing'
import { type Frame, type FrameParser, openFrames } from '@rideau/llm/frames/open-frames'
import type { StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import type { Usage } from '@rideau/llm/usage/usage'

/** Takes the frames of a stream. */
export interface FrameReceiver {
  /** One frame: what it means, and the bytes that it came in. */
  onFrame(events: readonly StreamEvent[], frame: Frame): void
}

/** Reads a provider's stream. Every frame is parsed and decoded once, whoever receives it. */
export class StreamReader {
  readonly #parser: FrameParser
  readonly #decoder: StreamDecoder
  /** Takes the frames of the next chunk. */
  receiver: FrameReceiver

  constructor(framing: Framing, decoder: StreamDecoder, receiver: FrameReceiver) {
    this.receiver = receiver
    this.#decoder = decoder
    this.#parser = openFrames(framing, frame =>
      this.receiver.onFrame(decoder.decode(frame.data, frame.event), frame),
    )
  }

  /** Throws where the chunk cannot be read, after which the reader is of no use. */
  push(chunk: Buffer): void {
    this.#parser.push(chunk)
  }

  /** The stream is over. Throws where its last frame is torn. */
  end(): void {
    this.#parser.end()
  }

  /** Has a frame begun that no chunk has ended yet? */
  get hasPartial(): boolean {
    return this.#parser.hasPartial()
  }

  /** Usage as far as the provider reported it. */
  partialUsage(): Usage | undefined {
    return this.#decoder.partialUsage?.()
  }
}
