import { openAwsEventStreamParser } from './aws-event-stream.ts'
import type { Framing } from './framing.ts'
import { openNdjsonParser } from './ndjson.ts'
import { openSseParser, type SseEvent, type SseParser } from './sse.ts'

/** One event of a provider's stream, however it was framed: `data` is its payload, `event` its name. */
export type Frame = SseEvent
export type FrameParser = SseParser

const PARSERS: Readonly<Record<Framing, (onFrame: (frame: Frame) => void) => FrameParser>> = {
  sse: onFrame => openSseParser(onFrame),
  'aws-event-stream': onFrame => openAwsEventStreamParser(onFrame),
  ndjson: onFrame => openNdjsonParser(onFrame),
}

/** Returns a parser of this framing. */
export function openFrames(framing: Framing, onFrame: (frame: Frame) => void): FrameParser {
  return PARSERS[framing](onFrame)
}
