import { maxSeconds } from '@rideau/llm/audio/audio-length'
import { findAudioType } from '@rideau/llm/audio/audio-type'
import { findWavFormat } from '@rideau/llm/audio/wav-format'
import { toObject, toText } from '@rideau/llm/json/json-value'
import type { ModelPricing } from '@rideau/llm/provider/prices'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'

/** Google counts 32 for a second of audio, and no model counts more. */
const TOKENS_A_SECOND = 32
/** Kinds of files in which an hour of silence may take a few bytes. Of all others the bytes count more than the seconds. */
const SMALL: ReadonlySet<string> = new Set(['flac', 'ogg', 'webm', 'mp4', 'm4a', 'wav'])
/** Characters of base64 that show the kind of a file, and those before the samples of a WAV file. */
const HEAD = 64
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

const SILENT: Audio = { byPart: undefined, tokens: 0 }

/** Finds the audio of a request and its length. Decodes at most 6 MiB, and compares each pair of its bytes. */
export function hearAudio({ messages }: ChatRequest): Audio {
  let byPart: Map<ContentPart, number> | undefined
  let sum = 0
  let left = MAX_READ_CHARS
  // All that is not read fills one context window together.
  let unread = UNREAD_TOKENS
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      const data = findSmall(part)
      if (data === undefined) continue
      left -= data.length
      const tokens = left < 0 ? unread : countSeconds(data) * TOKENS_A_SECOND
      if (left < 0) unread = 0
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
  if (data === undefined) return undefined
  const head = Buffer.from(data.slice(0, HEAD), 'base64')
  if (head.toString('latin1', 0, 3) === 'ID3') return data
  const kind = findAudioType(head)?.extension ?? ''
  return !SMALL.has(kind) || (kind === 'wav' && isUncompressed(data.slice(0, WAV_HEAD))) ? undefined : data
}

function isUncompressed(data: string): boolean {
  return findWavFormat(Buffer.from(data, 'base64'))?.isUncompressed === true
}

function countSeconds(data: string): number {
  return isUncompressed(data) ? 0 : maxSeconds(Buffer.from(data, 'base64'))
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
  return url?.startsWith('data:') === true ? url.slice(url.indexOf(',') + 1) : url
}
