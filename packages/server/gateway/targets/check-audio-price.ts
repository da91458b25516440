import { searchContent } from '@rideau/llm/formats/shared/reading/names-content'
import { searchTexts } from '@rideau/llm/formats/shared/reading/search-texts'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import type { Refusal } from '../../core/refusal.ts'

/**
 * Refuses audio input if the gateway does not know the model's price for it, which is several times the price of text.
 * Models whose price the environment's owner set and providers that report the cost of a request are allowed.
 */
export function checkAudioPrice(
  request: ChatRequest,
  provider: Provider,
  model: CatalogModel | undefined,
): Refusal | undefined {
  if (model?.inputs?.includes('audio') !== true || model.pricing === null) return undefined
  if (model.pricing.audio_input !== undefined || provider.reportsCost !== undefined) return undefined
  const path = findAudio(request)
  if (path === undefined) return undefined
  const message = `${path}: the gateway does not know the price of audio input for this model.`
  return { code: 'invalid_request', message, param: path }
}

/** What each target of an alias asks of the same messages. null: there is none. */
const known = new WeakMap<readonly Message[], string | null>()

/** Returns the path of the first content that is audio, or may be. */
export function findAudio({ messages }: Pick<ChatRequest, 'messages'>): string | undefined {
  const path = known.get(messages)
  return path === undefined ? runAtOnce(searchAudio(messages)) : (path ?? undefined)
}

/** Does what findAudio does, in short steps. What it finds is known from then on. */
export function* searchAudio(messages: readonly Message[]): Generator<void, string | undefined> {
  const path = yield* search(messages)
  known.set(messages, path ?? null)
  return path
}

function* search(messages: readonly Message[]): Generator<void, string | undefined> {
  for (let at = 0; at < messages.length; at++) {
    const content = messages[at]?.content
    if (!Array.isArray(content)) continue
    for (let index = 0; index < content.length; index++) {
      if (yield* mayBeAudio(content[index] as ContentPart)) return `messages[${at}].content[${index}]`
      yield
    }
  }
  return undefined
}

/** Blanks are read up to a bound. What is behind more may be anything. */
const AUDIO = /^(?:\s{1000}|\s*data:(?:\s{1000}|\s*(?:audio|video)\/))/i
/** In a part of a video, whose data may come without a media type. Its frames are images, and have no audio. */
const NO_IMAGE = /^(?:\s{1000}|\s*data:(?!\s{0,1000}image\/))/i

/**
 * Whether a part is audio or a video, which has audio too, in whatever kind of part it comes. A file by its address may be either,
 * since the provider obeys the media type that its server tells.
 */
function* mayBeAudio(part: ContentPart): Generator<void, boolean> {
  const { type } = part
  if (type === 'text' || type === 'refusal') return false
  if (type === 'input_audio') return true
  if (/video/i.test(type) && (yield* searchTexts(part, text => NO_IMAGE.test(text)))) return true
  if (yield* searchTexts(part, text => AUDIO.test(text))) return true
  return type !== 'image_url' && (yield* searchContent(part))
}
