import type { JsonObject } from '../json/json-value.ts'
import { toObjects, toText } from '../json/json-value.ts'
import type { TranscriptionReply, TranscriptionRequest } from './audio-format.ts'

/** A whole answer: its media type and its bytes. */
export interface EncodedAudio {
  readonly contentType: string
  readonly bytes: Buffer
}

const JSON_TYPE = 'application/json'
const TEXT_TYPE = 'text/plain; charset=utf-8'
export const EVENT_STREAM = 'text/event-stream'

/** Returns a transcript in the format that its caller wants. */
export function encodeTranscript(
  { format, isStream }: Pick<TranscriptionRequest, 'format' | 'isStream'>,
  reply: TranscriptionReply,
): EncodedAudio {
  if (isStream) return { contentType: EVENT_STREAM, bytes: encodeEvents(reply) }
  switch (format) {
    case 'json':
      return { contentType: JSON_TYPE, bytes: toBytes(toShort(reply.body)) }
    case 'verbose_json':
    case 'diarized_json':
      return { contentType: JSON_TYPE, bytes: toBytes(reply.body) }
    case 'text':
      return { contentType: TEXT_TYPE, bytes: Buffer.from(`${reply.text}\n`) }
    case 'srt':
      return { contentType: TEXT_TYPE, bytes: Buffer.from(toSrt(reply.body)) }
    case 'vtt':
      return { contentType: 'text/vtt; charset=utf-8', bytes: Buffer.from(toVtt(reply.body)) }
  }
}

const toBytes = (value: JsonObject): Buffer => Buffer.from(JSON.stringify(value))

/** What `json` has of a `verbose_json` answer, with the usage that OpenAI reports in it. */
function toShort(body: JsonObject): JsonObject {
  const { text, usage, logprobs, duration } = body
  const counted =
    usage ?? (typeof duration === 'number' ? { type: 'duration', seconds: Math.ceil(duration) } : undefined)
  return {
    text: text ?? '',
    ...(logprobs === undefined ? {} : { logprobs }),
    ...(counted === undefined ? {} : { usage: counted }),
  }
}

function encodeEvents({ text, body }: TranscriptionReply): Buffer {
  const { usage } = toShort(body)
  const events: JsonObject[] = [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) },
  ]
  return Buffer.from(events.map(toEvent).join(''))
}

export function toEvent(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
}

interface Cue {
  /** Milliseconds. */
  readonly start: number
  readonly end: number
  readonly text: string
}

function toCues(body: JsonObject): Cue[] {
  return toObjects(body.segments).map(({ start, end, text }) => ({
    start: toMs(start),
    end: toMs(end),
    text: (toText(text) ?? '').trim(),
  }))
}

function toMs(seconds: unknown): number {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0
}

function toSrt(body: JsonObject): string {
  const cues = toCues(body)
  return cues
    .map(
      ({ start, end, text }, at) => `${at + 1}\n${toTime(start, ',')} --> ${toTime(end, ',')}\n${text}\n\n`,
    )
    .join('')
}

function toVtt(body: JsonObject): string {
  const cues = toCues(body)
  return `WEBVTT\n\n${cues.map(({ start, end, text }) => `${toTime(start, '.')} --> ${toTime(end, '.')}\n${text}\n\n`).join('')}`
}

/** `01:02:03,004`. */
function toTime(ms: number, separator: ',' | '.'): string {
  const pad = (value: number, length: number): string => String(value).padStart(length, '0')
  const [hours, minutes, seconds] = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 1000) % 60,
  ]
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}${separator}${pad(ms % 1000, 3)}`
}
