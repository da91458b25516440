import { geminiContent } from '../formats/gemini-content/client/client.ts'
import { decodeUsage } from '../formats/gemini-content/client/decode-usage.ts'
import { CONTENTS } from '../formats/gemini-content/wire/content-rules.ts'
import { decodeBase64, joinLater, toBase64Json, toBytePieces } from '../json/base64.ts'
import { isObject, type JsonObject, toArray, toObject, toText } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { FieldRules, SCALAR, toListRule, toObjectRule, toUsualRule } from '../upstream/outgoing-rules.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import { estimateMaxTokens } from '../usage/estimate.ts'
import type { Usage } from '../usage/usage.ts'
import type { AudioClient, SpeechAnswer } from './audio-client.ts'
import type { AudioTokens, SpeechReply, SpeechRequest, TranscriptionRequest } from './audio-format.ts'
import { toWavHeader } from './wav-file.ts'

/** Google counts 32 for a second of audio that is heard, and 25 for one that is spoken. */
const HEARD_TOKENS_A_SECOND = 32
const SPOKEN_TOKENS_A_SECOND = 25
/** Above what was seen of fast speech. */
const TRANSCRIPT_TOKENS_A_SECOND = 10
/** The tokens of an instruction besides the caller's own words. */
const ASKED_TOKENS = 200
/** Models that cannot be kept from thinking think little of this. */
const THOUGHT_TOKENS = 4096
const MAX_TRANSCRIPT_TOKENS = 65_536
/** The output that the models of speech have at most. */
const MAX_SPOKEN_TOKENS = 16_384
/** The fewest characters in a second of speech. */
const FEWEST_CHARACTERS_A_SECOND = 5
/** Pauses, and silence at both ends. */
const SILENT_TOKENS = 200
const SAMPLE_RATE = 24_000
/** Longer than any media type with its parameters. */
const MAX_TYPE = 200

const TASKS: Readonly<Record<TranscriptionRequest['task'], string>> = {
  transcriptions:
    'Write down what is said in this audio, word for word, in the language in which it is said, and nothing else.',
  translations: 'Write what is said in this audio in English, and nothing else.',
}
/** The fields of OpenAI that can be put into words or have a field of their own. */
const HEARD_FIELDS: ReadonlySet<string> = new Set(['language', 'temperature'])

const SPEECH_RULES = new FieldRules(
  Object.entries({
    contents: CONTENTS,
    generationConfig: toObjectRule(
      {
        responseModalities: toListRule(toUsualRule(['AUDIO'])),
        speechConfig: toObjectRule(
          {
            voiceConfig: toObjectRule(
              { prebuiltVoiceConfig: toObjectRule({ voiceName: SCALAR }, 'refused') },
              'refused',
            ),
          },
          'refused',
        ),
      },
      'refused',
    ),
  }),
  'refused',
)

/**
 * Gemini's two ways with audio, both by `:generateContent`: a model that hears is asked to write down what it hears, and a model of
 * speech is asked for audio instead of words.
 */
export const geminiAudio: AudioClient = {
  findTranscriptObjection({ format, rest }, { provider, model }) {
    const name = `${provider.id}/${model}`
    if (format !== 'json' && format !== 'text') {
      const message = `response_format: the model ${name} has no ${format}; it has json and text.`
      return { param: 'response_format', message }
    }
    const unknown = Object.keys(rest).find(field => !HEARD_FIELDS.has(field))
    if (unknown === undefined) return undefined
    return { param: unknown, message: `${unknown}: is not supported by the model ${name}.` }
  },
  maxTranscriptUsage({ file: { seconds }, prompt = '' }) {
    const tokens = {
      textInput: ASKED_TOKENS + estimateMaxTokens(prompt),
      audioInput: seconds * HEARD_TOKENS_A_SECOND,
      textOutput: maxTranscriptTokens(seconds),
      audioOutput: 0,
    }
    return { seconds, tokens }
  },
  encodeTranscription: (request, target) =>
    geminiContent.encodeRequest(toChatRequest(request, target), target, undefined),
  decodeTranscription(body, target) {
    const { choices, usage } = geminiContent.decodeReply(body, target)
    const [choice] = choices
    // A text that was cut is not what was said.
    if (choice?.finishReason !== 'stop') return undefined
    const text = (choice.message.content ?? '').trim()
    const isWhole = usage !== undefined && hasBoth(usage, text !== '')
    const tokens = isWhole ? toHeardTokens(usage) : undefined
    const counted = tokens === undefined ? {} : { usage: encodeUsage(tokens) }
    return { text, body: { text, ...counted }, usage: { tokens } }
  },
  findSpeechObjection({ format, speed, voice, rest }, { provider, model }) {
    const name = `${provider.id}/${model}`
    const refuse = (param: string, why: string) => ({ param, message: `${param}: the model ${name} ${why}.` })
    if (format !== undefined && format !== 'wav' && format !== 'pcm')
      return refuse('response_format', `has no ${format}; it has wav and pcm`)
    if (speed !== 1) return refuse('speed', 'speaks at its own pace; ask for another in instructions')
    if (isObject(voice)) return refuse('voice', 'has voices by name only')
    const unknown = Object.keys(rest)[0]
    return unknown === undefined ? undefined : refuse(unknown, 'does not support it')
  },
  maxSpeechUsage({ input, instructions = '' }) {
    const seconds = Math.ceil(input.length / FEWEST_CHARACTERS_A_SECOND)
    const tokens = {
      textInput: ASKED_TOKENS + estimateMaxTokens(input) + estimateMaxTokens(instructions),
      audioInput: 0,
      textOutput: 0,
      audioOutput: Math.min(MAX_SPOKEN_TOKENS, SILENT_TOKENS + seconds * SPOKEN_TOKENS_A_SECOND),
    }
    return { seconds, tokens }
  },
  encodeSpeech,
  speaksJson: true,
  decodeSpeech,
}

function maxTranscriptTokens(seconds: number): number {
  return Math.min(MAX_TRANSCRIPT_TOKENS, THOUGHT_TOKENS + seconds * TRANSCRIPT_TOKENS_A_SECOND)
}

function toChatRequest(
  { task, file, prompt, rest, model }: TranscriptionRequest,
  target: Target,
): ChatRequest {
  const language = toText(rest.language)
  const instructions = [
    TASKS[task],
    language === undefined ? '' : `It is spoken in this language: ${language}.`,
    prompt === undefined ? '' : `Names and words that may occur: ${prompt}`,
  ].filter(item => item !== '')
  const { extension } = file.type
  const audio = { data: toBase64Json(file.bytes), format: extension === 'm4a' ? 'mp4' : extension }
  const { temperature } = rest
  return {
    model,
    stream: false,
    includeUsage: false,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: instructions.join('\n') },
          { type: 'input_audio', input_audio: audio },
        ],
      },
    ],
    reasoningEffort: target.model.includes('pro') ? 'low' : 'none',
    maxOutputTokens: maxTranscriptTokens(file.seconds),
    ...(typeof temperature === 'number' ? { temperature } : {}),
  }
}

/** Returns true if the usage has what every answer must have used. */
function hasBoth({ uncachedInput, cacheRead, output }: Usage, hasOutput: boolean): boolean {
  return uncachedInput + cacheRead > 0 && (output > 0 || !hasOutput)
}

function toHeardTokens({ uncachedInput, audioInput = 0, cacheRead, output, reasoning }: Usage): AudioTokens {
  return {
    textInput: uncachedInput - audioInput + cacheRead,
    audioInput,
    textOutput: output + reasoning,
    audioOutput: 0,
  }
}

/** Returns the usage as OpenAI reports it. */
function encodeUsage({ textInput, audioInput, textOutput }: AudioTokens): JsonObject {
  const input = textInput + audioInput
  return {
    type: 'tokens',
    input_tokens: input,
    input_token_details: { text_tokens: textInput, audio_tokens: audioInput },
    output_tokens: textOutput,
    total_tokens: input + textOutput,
  }
}

function encodeSpeech({ input, instructions, voice }: SpeechRequest, target: Target): EncodedRequest {
  const { provider, model, baseUrl } = target
  const text = instructions === undefined ? input : `${instructions}:\n${input}`
  const value: JsonObject = {
    contents: [{ role: 'user', parts: [{ text }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
  }
  const path = `${provider.modelPath ?? '/models'}/${encodeURIComponent(model)}:generateContent`
  return {
    ...joinAddress(baseUrl, path),
    headers: { ...JSON_HEADERS },
    body: toSentJson(value),
    content: { rules: SPEECH_RULES, value },
  }
}

/** Returns the samples of a second, as the type of the audio tells them. */
function findRate(part: JsonObject | undefined): number {
  const type = toText(toObject(part?.inlineData)?.mimeType) ?? ''
  const [, rate] = /;\s*rate=(\d{4,6})\b/.exec(type.slice(0, MAX_TYPE)) ?? []
  return rate === undefined ? SAMPLE_RATE : Number(rate)
}

function* decodeSpeech(
  { json: body }: SpeechAnswer,
  { format = 'wav' }: SpeechRequest,
): Generator<void, SpeechReply | undefined> {
  const candidate = toArray(body?.candidates).find(isObject)
  const parts = toArray(toObject(candidate?.content)?.parts)
  const pieces: Buffer[] = []
  for (const part of parts) {
    yield
    const data = toText(toObject(toObject(part)?.inlineData)?.data) ?? ''
    for (const piece of toBytePieces(decodeBase64(data))) {
      pieces.push(piece)
      yield
    }
  }
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (body === undefined || length === 0) return undefined
  if (format !== 'pcm') pieces.unshift(toWavHeader(length, findRate(parts.find(isObject))))
  const audio = joinLater(pieces)
  const usage = decodeUsage(body)
  if (usage === undefined || !hasBoth(usage, true)) return { audio, format, usage: {} }
  const tokens = {
    textInput: usage.uncachedInput + usage.cacheRead,
    audioInput: 0,
    textOutput: usage.reasoning,
    audioOutput: usage.output,
  }
  return { audio, format, usage: { tokens } }
}
