import { choiceAt, invalid, numberAt, set, textAt } from '../formats/shared/reading/read-fields.ts'
import { assertNoReservedFields } from '../formats/shared/requests/reserved-fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toPlainName } from '../upstream/reserved-names.ts'
import {
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
  type TranscriptionRequest,
  type UnmeasuredTranscription,
} from './audio-format.ts'
import { TRANSCRIPTION_RULES } from './audio-rules.ts'
import { findAudioType } from './audio-type.ts'

/** A field that a form may have several times, or once with `[]` after its name. */
const LISTS: ReadonlySet<string> = new Set([
  'include',
  'timestamp_granularities',
  'known_speaker_names',
  'known_speaker_references',
  'languages',
  'keywords',
])
/** Fields that are read here and not passed on as they were received. */
const OWN: ReadonlySet<string> = new Set(['model', 'prompt', 'response_format', 'stream', 'end_user', 'user'])
const KNOWN: ReadonlySet<string> = new Set([...TRANSCRIPTION_RULES.names, ...OWN, 'file'])
/** Places where a caller could name audio that the gateway does not see, and so cannot price. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  ['url', 'file_url', 'file_id', 'audio_url', 'audio_urls', 'source_url', 'uri'].map(toPlainName),
)
const MAX_TEMPERATURE = 1

/** Returns true if values of a form's field of this name are collected in a list; its name is given without `[]`. */
export function isListField(name: string): boolean {
  return LISTS.has(name)
}

/** The fields of `/audio/transcriptions` and `/audio/translations`, as OpenAI has them. */
export function parseTranscription(
  task: TranscriptionRequest['task'],
  fields: JsonObject,
  bytes: Buffer | undefined,
): UnmeasuredTranscription {
  const model = textAt(fields.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  for (const name in fields) {
    if (ELSEWHERE.has(toPlainName(name))) throw invalid(name, 'is not accepted: send the audio as file.')
  }
  if (bytes === undefined) throw invalid('file', 'must be an audio file.')
  const type = findAudioType(bytes)
  if (type === undefined) {
    throw invalid('file', 'must be audio in one of flac, mp3, mp4, m4a, aac, ogg, wav, webm.')
  }
  assertNoReservedFields(fields, KNOWN)
  return {
    task,
    model,
    file: { bytes, type },
    format: toFormat(fields.response_format),
    isStream: toFlag(fields.stream),
    prompt: fields.prompt === undefined ? undefined : textAt(fields.prompt, 'prompt'),
    rest: toRest(fields),
  }
}

/** The first field that would be passed on unread. */
export function findUnreadField(fields: JsonObject): string | undefined {
  return Object.keys(fields).find(name => !KNOWN.has(name))
}

function toFormat(value: Json | undefined): TranscriptFormat {
  return value === undefined ? 'json' : choiceAt(value, 'response_format', TRANSCRIPT_FORMATS)
}

function toFlag(value: Json | undefined): boolean {
  if (value === undefined) return false
  return choiceAt(value, 'stream', ['true', 'false']) === 'true'
}

function toRest(fields: JsonObject): JsonObject {
  const rest: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(fields)) {
    if (OWN.has(name) || value === undefined) continue
    set(rest, name, name === 'temperature' ? toTemperature(value) : value)
  }
  return rest
}

function toTemperature(value: Json): number {
  const number = Number.parseFloat(textAt(value, 'temperature'))
  if (Number.isNaN(number)) throw invalid('temperature', 'must be a number.')
  return numberAt(number, 'temperature', { min: 0, max: MAX_TEMPERATURE })
}
