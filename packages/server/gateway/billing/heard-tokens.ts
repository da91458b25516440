import { maxSeconds } from '@rideau/llm/audio/audio-length'
import { findAudioType } from '@rideau/llm/audio/audio-type'
import { toObject, toText } from '@rideau/llm/json/json-value'
import type { ContentPart } from '@rideau/llm/request/message'

/** Google counts 32 for a second of audio, and no model counts more. */
const TOKENS_A_SECOND = 32
/** Kinds of files in which an hour of silence takes a few bytes. Of all others the bytes count more than the seconds. */
const SMALL: ReadonlySet<string> = new Set(['flac', 'ogg', 'webm', 'mp4', 'm4a'])
/** Characters of base64 that show the kind of a file. */
const HEAD = 64

/** Returns the most tokens that the audio of a part can have by its length; 0: it has none, or none that its bytes do not count. */
export function countHeard(part: ContentPart): number {
  const data = findData(part)
  if (data === undefined) return 0
  const head = Buffer.from(data.slice(0, HEAD), 'base64')
  const isTagged = head.toString('latin1', 0, 3) === 'ID3'
  if (!isTagged && !SMALL.has(findAudioType(head)?.extension ?? '')) return 0
  return maxSeconds(Buffer.from(data, 'base64')) * TOKENS_A_SECOND
}

/** The base64 of audio, in whatever kind of part it comes. */
function findData(part: ContentPart): string | undefined {
  const { type } = part
  if (type === 'text' || type === 'refusal') return undefined
  const audio = toText(toObject(part.input_audio)?.data)
  const url = audio ?? toText(toObject(part.file)?.file_data) ?? toText(toObject(part.image_url)?.url)
  return url?.startsWith('data:') === true ? url.slice(url.indexOf(',') + 1) : url
}
