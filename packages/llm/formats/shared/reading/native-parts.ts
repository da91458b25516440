import type { JsonObject } from '../../../json/json-value.ts'
import { assertKnownFields, invalid, objectAt, optionalText, textAt } from './read-fields.ts'

/** The parts of a message's content in the gateway's own format, and in OpenAI's, which has further ones. */
const TYPES: ReadonlySet<string> = new Set(['text', 'image_url', 'file', 'input_audio', 'refusal'])
const FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...TYPES].map(type => [type, new Set(['type', type, 'cache_control'])]),
)
const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail'])
const FILE_FIELDS: ReadonlySet<string> = new Set(['filename', 'file_data'])
const AUDIO_FIELDS: ReadonlySet<string> = new Set(['data', 'format'])

export function isNativePart(type: string): boolean {
  return TYPES.has(type)
}

/** Throws RequestError for a part of the gateway's own format that has an unknown field or an invalid value. */
export function assertNativePart(part: JsonObject, type: string, path: string): void {
  const fields = FIELDS.get(type)
  if (fields === undefined) throw invalid(`${path}.type`, `must be one of ${[...TYPES].join(', ')}.`)
  assertKnownFields(part, fields, path)
  const at = `${path}.${type}`
  if (type === 'image_url') assertImage(objectAt(part.image_url, at), at)
  else if (type === 'file') assertFile(objectAt(part.file, at), at)
  else if (type === 'input_audio') assertAudio(objectAt(part.input_audio, at), at)
  else textAt(part[type], at)
}

function assertImage(image: JsonObject, path: string): void {
  assertKnownFields(image, IMAGE_FIELDS, path)
  if (!/^(https:\/\/|data:image\/)/i.test(textAt(image.url, `${path}.url`))) {
    throw invalid(`${path}.url`, 'must be an https URL or a data URL of an image.')
  }
  optionalText(image, 'detail', `${path}.detail`)
}

function assertFile(file: JsonObject, path: string): void {
  assertKnownFields(file, FILE_FIELDS, path)
  if (!/^data:application\/pdf[;,]/i.test(textAt(file.file_data, `${path}.file_data`))) {
    throw invalid(`${path}.file_data`, 'must be a data URL of a PDF (data:application/pdf;base64,...).')
  }
  optionalText(file, 'filename', `${path}.filename`)
}

function assertAudio(audio: JsonObject, path: string): void {
  assertKnownFields(audio, AUDIO_FIELDS, path)
  textAt(audio.data, `${path}.data`)
  textAt(audio.format, `${path}.format`)
}
