import { type FormPart, toSentForm } from '../images/multipart.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject, toText } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import type { Provider } from '../provider/provider.ts'
import { toAddress, toWireModel } from '../upstream/openai-address.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import { anyCountOrZero } from '../usage/token-count.ts'
import type { AudioClient, SpeechAnswer } from './audio-client.ts'
import type {
  AudioTokens,
  AudioUsage,
  SpeechFormat,
  SpeechReply,
  SpeechRequest,
  TranscriptFormat,
  TranscriptionReply,
  TranscriptionRequest,
} from './audio-format.ts'
import { maxSpeechUsage, maxTranscriptionUsage } from './audio-pricing.ts'
import { SPEECH_RULES, TRANSCRIPTION_RULES } from './audio-rules.ts'
import { decodeSpeechEvents } from './decode-speech-events.ts'

/** OpenAI's own default. */
const DEFAULT_FORMAT: SpeechFormat = 'mp3'
/** These answer `json` and `diarized_json` only, without times. */
const UNTIMED = /^gpt-/
/** These answer with bytes only. */
const WITHOUT_EVENTS = /^tts-1/

/**
 * The format in which a provider is asked for a transcript: one that tells what it costs, and from which the caller's can be
 * made. undefined: the model has none.
 */
export function findRequestedFormat(
  format: TranscriptFormat,
  { provider, model }: Pick<Target, 'provider' | 'model'>,
): 'json' | 'verbose_json' | 'diarized_json' | undefined {
  if (format === 'diarized_json') return format
  if (UNTIMED.test(model)) return format === 'json' || format === 'text' ? 'json' : undefined
  const isEnough = format === 'json' || format === 'text'
  return isEnough && provider.audio?.countsInJson === true ? 'json' : 'verbose_json'
}

function encodeTranscription(request: TranscriptionRequest, target: Target): EncodedRequest {
  const { task, file, prompt, rest } = request
  const format = findRequestedFormat(request.format, target)
  if (format === undefined)
    throw new Error('a target was selected for a transcript in a format that it does not have')
  const fields: JsonObject = {
    ...rest,
    ...(prompt === undefined ? {} : { prompt }),
    model: toWireModel(target),
    response_format: format,
  }
  const parts: FormPart[] = Object.entries(fields).flatMap(([name, value]) => toParts(name, value as Json))
  parts.push({
    name: 'file',
    bytes: file.bytes,
    fileName: `audio.${file.type.extension}`,
    mediaType: file.type.mediaType,
  })
  return {
    ...toAddress(target, `/audio/${task}`),
    headers: { accept: 'application/json' },
    ...toSentForm(parts),
    content: { rules: TRANSCRIPTION_RULES, value: fields },
  }
}

function toParts(name: string, value: Json): FormPart[] {
  if (Array.isArray(value)) return value.map(item => ({ name: `${name}[]`, value: toField(item) }))
  return [{ name, value: toField(value) }]
}

function toField(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** undefined: the answer has no text. */
export function decodeTranscription(body: JsonObject): TranscriptionReply | undefined {
  const text = toText(body.text)
  if (text === undefined) return undefined
  return { text, body, usage: decodeUsage(body, text.trim() !== '') }
}

function decodeUsage(body: JsonObject, hasText: boolean): AudioUsage {
  const usage = toObject(body.usage)
  const tokens = usage?.type === 'duration' ? undefined : toTokens(usage, hasText)
  const seconds = Math.max(toSeconds(usage?.seconds), toSeconds(body.duration))
  return { seconds: seconds === 0 ? undefined : seconds, tokens }
}

/** Larger figures are a provider's mistake. What is missing is billed at its maximum. */
const MAX_SECONDS = 1_000_000
const MAX_TOKENS = 20_000_000

/** Groq writes numbers, OpenAI's older models a text. 0: none, since audio has a length. */
function toSeconds(value: Json | undefined): number {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS ? seconds : 0
}

/** undefined: a part is missing that the answer cannot have been made without, or there are too many tokens. */
function toTokens(usage: JsonObject | undefined, hasOutput: boolean): AudioTokens | undefined {
  const input = anyCountOrZero(usage?.input_tokens)
  const output = anyCountOrZero(usage?.output_tokens)
  if (usage === undefined || input === 0 || input + output > MAX_TOKENS) return undefined
  if (output === 0 && hasOutput) return undefined
  const details = toObject(usage.input_token_details) ?? toObject(usage.input_tokens_details)
  const audioInput = Math.min(input, anyCountOrZero(details?.audio_tokens))
  return { textInput: input - audioInput, audioInput, textOutput: output, audioOutput: 0 }
}

/** Returns true if a model's speech comes as events, of which the last one has its usage. */
function speaksInEvents({ provider, model }: { provider: Provider; model: string }): boolean {
  return provider.audio?.streamsSpeech === true && !WITHOUT_EVENTS.test(model)
}

function encodeSpeech(request: SpeechRequest, target: Target): EncodedRequest {
  const { input, voice, instructions, format, speed, rest } = request
  const inEvents = speaksInEvents(target)
  const value: JsonObject = {
    ...rest,
    model: toWireModel(target),
    input,
    voice,
    response_format: format ?? DEFAULT_FORMAT,
    ...(instructions === undefined ? {} : { instructions }),
    ...(speed === 1 ? {} : { speed }),
    ...(inEvents ? { stream_format: 'sse' } : {}),
  }
  return {
    ...toAddress(target, '/audio/speech'),
    headers: { 'content-type': 'application/json', accept: inEvents ? 'text/event-stream' : '*/*' },
    body: toSentJson(value),
    content: { rules: SPEECH_RULES, value },
  }
}

/** undefined: the answer has no audio. */
export function* decodeSpeech(
  { bytes, contentType }: SpeechAnswer,
  { format = DEFAULT_FORMAT }: Pick<SpeechRequest, 'format'>,
  target: Pick<Target, 'provider' | 'model'>,
): Generator<void, SpeechReply | undefined> {
  if (speaksInEvents(target) && contentType.startsWith('text/event-stream')) {
    const { audio, usage } = yield* decodeSpeechEvents(bytes)
    const isSilent = Buffer.isBuffer(audio) && audio.length === 0
    return isSilent ? undefined : { audio, format, usage: { tokens: toSpokenTokens(usage) } }
  }
  // A text is an error report, whatever its status says.
  if (bytes.length === 0 || /json|text/.test(contentType)) return undefined
  return { audio: bytes, format, usage: {} }
}

function toSpokenTokens(usage: JsonObject | undefined): AudioTokens | undefined {
  const heard = toTokens(usage, true)
  return heard === undefined ? undefined : { ...heard, textOutput: 0, audioOutput: heard.textOutput }
}

export const openAiAudio: AudioClient = {
  findTranscriptObjection({ format }, target) {
    if (findRequestedFormat(format, target) !== undefined) return undefined
    const name = `${target.provider.id}/${target.model}`
    const message = `response_format: the model ${name} has no ${format}; it has json and text.`
    return { param: 'response_format', message }
  },
  maxTranscriptUsage: maxTranscriptionUsage,
  encodeTranscription,
  decodeTranscription,
  findSpeechObjection: () => undefined,
  maxSpeechUsage,
  encodeSpeech,
  decodeSpeech,
}
