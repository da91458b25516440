import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Random } from '../../core/random.ts'
import { countInput, countMaxInput, sampleInput } from './count-input.ts'
import { countUnread, sampleUnread } from './count-unread.ts'
import { type Audio, hearAudio } from './heard-tokens.ts'
import { listImages } from './image-tokens.ts'
import { countPackedFiles } from './packed-files.ts'

/** The input of a request in tokens, without what depends on a target. */
export interface InputCounts {
  /** What a provider is likely to count. */
  readonly likely: number
  /** The most that it may count. */
  readonly most: number
  /** Of texts that are not read. */
  readonly unread: number
  /** Of files whose bytes do not bound their text: Infinity, or 0. */
  readonly packed: number
  readonly audio: Audio
  /** They may have more tokens at some targets (countLargeImages). */
  readonly images: readonly ContentPart[]
}

/** The bytes of a body above which texts are not read whole. */
const LONG_BYTES = 1_048_576

/** An alias asks once for each of its targets, then for what is reserved. */
const known = new WeakMap<ChatRequest, InputCounts>()

/**
 * Counts the input of a request, once. Of a long body it reads samples at random places: the whole of 32 MiB would hold the event loop
 * for 300 ms.
 */
export function countRequest(
  request: ChatRequest,
  { bytes, value }: SourceBody,
  random: Random,
): InputCounts {
  let counts = known.get(request)
  if (counts === undefined) {
    const isLong = bytes.length > LONG_BYTES
    const audio = hearAudio(request)
    const { likely, most } = isLong
      ? sampleInput(request, audio, random)
      : { likely: countInput(request, audio), most: countMaxInput(request, audio) }
    const unread = isLong ? sampleUnread(request, value, random) : countUnread(request, value)
    counts = { likely, most, unread, packed: countPackedFiles(request), audio, images: listImages(request) }
    known.set(request, counts)
  }
  return counts
}
