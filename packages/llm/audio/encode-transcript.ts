import type { JsonObject } from '../json/json-value.ts'
import { toObjects, toText } from '../json/json-value.ts'
import {
  isShortJson,
  type SentBody,
  toPieces,
  toSentJson,
  toSentPlain,
  toSentText,
} from '../json/unwritten-json.ts'
import type { TranscriptionReply, TranscriptionRequest } from './audio-format.ts'

/** A whole answer: its media type and its bytes. */
export interface EncodedAudio {
  readonly contentType: string
  readonly bytes: SentBody
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
      return { contentType: JSON_TYPE, bytes: toSentJson(toShort(reply.body)) }
    case 'verbose_json':
    case 'diarized_json':
      return { contentType: JSON_TYPE, bytes: toSentJson(reply.body) }
    case 'text':
      return { contentType: TEXT_TYPE, bytes: toSentPlain(`${reply.text}\n`) }
    case 'srt':
      return { contentType: TEXT_TYPE, bytes: encodeCues('', reply.body, toSrt) }
    case 'vtt':
      return { contentType: 'text/vtt; charset=utf-8', bytes: encodeCues('WEBVTT\n\n', reply.body, toVtt) }
  }
}

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

function encodeEvents({ text, body }: TranscriptionReply): SentBody {
  const { usage } = toShort(body)
  const events: JsonObject[] = [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) },
  ]
  return toEvents(events)
}

export function toEvents(events: readonly JsonObject[]): SentBody {
  return toSentText(events.flatMap(value => [`event: ${String(value.type)}\ndata: `, { value }, '\n\n']))
}

interface Cue {
  /** Milliseconds. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** So many characters of cues are written at once. */
const PIECE_CHARACTERS = 64 * 1024

/** Returns the segments of a transcript as subtitles behind a first line. */
function encodeCues(head: string, body: JsonObject, write: (cue: Cue, at: number) => string): SentBody {
  const segments = toObjects(body.segments)
  const cues = {
    *pieces(): Generator<Buffer, void> {
      let text = head
      for (const [at, segment] of segments.entries()) {
        text += write(toCue(segment), at)
        if (text.length < PIECE_CHARACTERS) continue
        yield* toPieces(text)
        text = ''
      }
      yield* toPieces(text)
    },
  }
  return isShortJson(segments) ? Buffer.concat([...cues.pieces()]) : cues
}

function toCue({ start, end, text }: JsonObject): Cue {
  return { start: toMs(start), end: toMs(end), text: (toText(text) ?? '').trim() }
}

function toMs(seconds: unknown): number {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0
}

function toSrt({ start, end, text }: Cue, at: number): string {
  return `${at + 1}\n${toTime(start, ',')} --> ${toTime(end, ',')}\n${text}\n\n`
}

function toVtt({ start, end, text }: Cue): string {
  return `${toTime(start, '.')} --> ${toTime(end, '.')}\n${text}\n\n`
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
