import { measureSeconds } from '@rideau/llm/audio/audio-length'
import { findAudioType } from '@rideau/llm/audio/audio-type'
import { findWavFormat } from '@rideau/llm/audio/wav-format'
import { decodeBase64 } from '@rideau/llm/json/base64'
import { toObject, toText } from '@rideau/llm/json/json-value'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { ModelPricing } from '@rideau/llm/provider/prices'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'

/** Google counts 32 for a second of audio, and no model counts more. */
const TOKENS_A_SECOND = 32
/** Kinds of files in which an hour of silence may take a few bytes. Of all others the bytes count more than the seconds. */
const SMALL: ReadonlySet<string> = new Set(['flac', 'ogg', 'webm', 'mp4', 'm4a', 'wav'])
/** Characters of base64 that show the kind of a file, and those before the samples of a WAV file. Decoders skip blanks among them. */
const HEAD = 1_400
const WAV_HEAD = 65_536

/** Characters of base64 that are read of all the audio of a request. More have more tokens by their bytes than any model hears. */
const MAX_READ_CHARS = 8 * 1_048_576
/** The window of the models that hear most, which audio that is not read may fill. */
const UNREAD_TOKENS = 1_048_576

/** The most tokens that the audio of a request can have by its length, where its bytes may not count them. */
export interface Audio {
  /** undefined: there is none. */
  readonly byPart: ReadonlyMap<ContentPart, number> | undefined
  readonly tokens: number
}

/** More are not read. What is behind them may be any audio. */
const MANY_BLANKS = /^\s{1000}/
const DATA_URL = /^\s{0,999}data:/i

const SILENT: Audio = { byPart: undefined, tokens: 0 }

/** What was measured in steps, until the tokens of its request are counted. */
const known = new WeakMap<ChatRequest, Audio>()

/** Finds the audio of a request and its length. Decodes at most 6 MiB. */
export function hearAudio(request: ChatRequest): Audio {
  return known.get(request) ?? runAtOnce(measure(request))
}

/** Does what hearAudio does, in steps of a few milliseconds at most. What it finds is known from then on. */
export function* measureAudio(request: ChatRequest): Generator<void, Audio> {
  const audio = yield* measure(request)
  known.set(request, audio)
  return audio
}

function* measure({ messages }: ChatRequest): Generator<void, Audio> {
  let byPart: Map<ContentPart, number> | undefined
  let sum = 0
  let left = MAX_READ_CHARS
  // All that is not read fills one context window together.
  let unread = UNREAD_TOKENS
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      const data = findSmall(part)
      yield
      if (data === undefined) continue
      left -= data.length
      const isUnread = left < 0 || MANY_BLANKS.test(data)
      const tokens = isUnread ? unread : (yield* measureData(data)) * TOKENS_A_SECOND
      if (isUnread) unread = 0
      if (tokens === 0) continue
      byPart ??= new Map()
      byPart.set(part, tokens)
      sum += tokens
    }
  }
  return byPart === undefined ? SILENT : { byPart, tokens: sum }
}

/** Returns the base64 of a part's audio that its bytes may not count. */
function findSmall(part: ContentPart): string | undefined {
  const data = findData(part)
  if (data === undefined || MANY_BLANKS.test(data)) return data
  const head = Buffer.from(data.slice(0, HEAD), 'base64')
  if (head.toString('latin1', 0, 3) === 'ID3') return data
  const kind = findAudioType(head)?.extension ?? ''
  return !SMALL.has(kind) || (kind === 'wav' && isUncompressed(data.slice(0, WAV_HEAD))) ? undefined : data
}

function isUncompressed(data: string): boolean {
  return findWavFormat(Buffer.from(data, 'base64'))?.isUncompressed === true
}

/** Returns the most seconds of audio in base64; 0 if its bytes count it. */
function* measureData(data: string): Generator<void, number> {
  const file = yield* decode(data)
  return findWavFormat(file)?.isUncompressed === true ? 0 : yield* measureSeconds(file)
}

/** Returns the bytes of a text in base64. In steps where it has characters that are skipped. */
function* decode(data: string): Generator<void, Buffer> {
  const bytes = decodeBase64(data)
  if (Buffer.isBuffer(bytes)) return bytes
  const pieces: Buffer[] = []
  for (const piece of bytes.pieces()) {
    pieces.push(piece)
    yield
  }
  return Buffer.concat(pieces)
}

/**
 * Returns the tokens of a request that its audio has by its length, where a model has a price of its own for audio; otherwise 0.
 * Audio that its bytes count is left out: they cost more at the price of text than its tokens do at that of audio.
 */
export function countPricedAudio(
  { tokens }: Audio,
  targets: readonly { readonly catalogModel: { readonly pricing: ModelPricing | null } | undefined }[],
): number {
  return targets.some(({ catalogModel }) => catalogModel?.pricing?.audio_input !== undefined) ? tokens : 0
}

/** Returns the base64 of audio or of a file, in whatever kind of part it comes. */
export function findData(part: ContentPart): string | undefined {
  const { type } = part
  if (type === 'text' || type === 'refusal') return undefined
  const audio = toText(toObject(part.input_audio)?.data)
  const url = audio ?? toText(toObject(part.file)?.file_data) ?? toText(toObject(part.image_url)?.url)
  return url !== undefined && DATA_URL.test(url) ? url.slice(url.indexOf(',') + 1) : url
}
