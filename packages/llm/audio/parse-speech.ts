import {
  choiceAt,
  invalid,
  optionalNumber,
  optionalText,
  textAt,
} from '../formats/shared/reading/read-fields.ts'
import { assertNoReservedFields } from '../formats/shared/requests/reserved-fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { isObject } from '../json/json-value.ts'
import { SPEECH_FORMATS, type SpeechRequest } from './audio-format.ts'
import { SPEECH_RULES } from './audio-rules.ts'

const KNOWN: ReadonlySet<string> = new Set([...SPEECH_RULES.names, 'end_user', 'user'])
/** OpenAI's limit, in characters. */
const MAX_INPUT = 4096
/** The longest instructions, in characters. OpenAI documents no bound. */
const MAX_INSTRUCTIONS = 4096
const SPEED = { min: 0.25, max: 4 }

/** A body of `/audio/speech`, as OpenAI has it. */
export function parseSpeech(body: JsonObject): SpeechRequest {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const input = textAt(body.input, 'input')
  if (input === '' || input.length > MAX_INPUT)
    throw invalid('input', `must have 1 to ${MAX_INPUT} characters.`)
  const instructions = optionalText(body, 'instructions')
  if (instructions !== undefined && instructions.length > MAX_INSTRUCTIONS) {
    throw invalid('instructions', `must have at most ${MAX_INSTRUCTIONS} characters.`)
  }
  assertNoReservedFields(body, KNOWN, undefined, new Set(['voice']))
  const { response_format: format, stream_format: stream } = body
  return {
    model,
    input,
    voice: toVoice(body.voice),
    instructions,
    format:
      format === undefined || format === null
        ? undefined
        : choiceAt(format, 'response_format', SPEECH_FORMATS),
    speed: optionalNumber(body, 'speed', SPEED) ?? 1,
    isStream:
      stream !== undefined &&
      stream !== null &&
      choiceAt(stream, 'stream_format', ['audio', 'sse']) === 'sse',
    rest: toRest(body),
  }
}

/** The first field that would be passed on unread. */
export function findUnreadSpeechField(body: JsonObject): string | undefined {
  return Object.keys(body).find(name => !KNOWN.has(name))
}

/** A name, or the id of a voice of the provider's account. */
function toVoice(value: Json | undefined): Json {
  if (isObject(value)) return { id: textAt(value.id, 'voice.id') }
  const voice = textAt(value, 'voice')
  if (voice === '') throw invalid('voice', 'must not be empty.')
  return voice
}

function toRest(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !KNOWN.has(name) && value !== null),
  )
}
