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
/** Characters of base64 that show the kind of a file. */
const HEAD = 64

/** Returns the most tokens that the audio of a part can have by its length; 0: it has none, or none that its bytes do not count. */
export function countHeard(part: ContentPart): number {
  const data = findData(part)
  if (data === undefined) return 0
  const head = Buffer.from(data.slice(0, HEAD), 'base64')
  const isTagged = head.toString('latin1', 0, 3) === 'ID3'
  if (!isTagged && !SMALL.has(findAudioType(head)?.extension ?? '')) return 0
  const file = Buffer.from(data, 'base64')
  return findWavFormat(file)?.isUncompressed === true ? 0 : maxSeconds(file) * TOKENS_A_SECOND
}

/**
 * Returns the tokens of a request that its audio has by its length, where a model has a price of its own for audio; otherwise 0.
 * Audio that its bytes count is left out: they cost more at the price of text than its tokens do at that of audio.
 */
export function countPricedAudio(
  { messages }: ChatRequest,
  targets: readonly { readonly catalogModel: { readonly pricing: ModelPricing | null } | undefined }[],
): number {
  if (!targets.some(({ catalogModel }) => catalogModel?.pricing?.audio_input !== undefined)) return 0
  let tokens = 0
  for (const { content } of messages) {
    if (Array.isArray(content)) for (const part of content) tokens += countHeard(part)
  }
  return tokens
}

/** Returns the base64 of audio or of a file, in whatever kind of part it comes. */
export function findData(part: ContentPart): string | undefined {
  const { type } = part
  if (type === 'text' || type === 'refusal') return undefined
  const audio = toText(toObject(part.input_audio)?.data)
  const url = audio ?? toText(toObject(part.file)?.file_data) ?? toText(toObject(part.image_url)?.url)
  return url?.startsWith('data:') === true ? url.slice(url.indexOf(',') + 1) : url
}
