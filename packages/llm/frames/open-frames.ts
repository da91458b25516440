import { openAwsEventStreamParser } from './aws-event-stream.ts'
import type { Framing } from './framing.ts'
import { openNdjsonParser } from './ndjson.ts'
import { openSseParser, type SseEvent, type SseParser } from './sse.ts'

/** One event of a provider's stream, however it was framed: `data` is its payload, `event` its name. */
export type Frame = SseEvent
export type FrameParser = SseParser

/** `maxEventBytes`: 1 MiB if absent. */
export interface FrameOptions {
  readonly maxEventBytes?: number
}

type OpenParser = (onFrame: (frame: Frame) => void, options?: FrameOptions) => FrameParser

const PARSERS: Readonly<Record<Framing, OpenParser>> = {
  sse: openSseParser,
  'aws-event-stream': openAwsEventStreamParser,
  ndjson: openNdjsonParser,
}

/** Returns a parser of this framing. */
export function openFrames(
  framing: Framing,
  onFrame: (frame: Frame) => void,
  options?: FrameOptions,
): FrameParser {
  return PARSERS[framing](onFrame, options)
}
