import {
  allTextsLeft,
  isSpeaker,
  isStoredFiles,
  searchContent,
  searchMessage,
  searchPackedFile,
  searchStoredFiles,
  type TextsLeft,
} from '@rideau/llm/formats/shared/reading/names-content'
import { isNativePart } from '@rideau/llm/formats/shared/reading/native-parts'
import { searchNames, searchTexts } from '@rideau/llm/formats/shared/reading/search-texts'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import { toObject } from '@rideau/llm/json/json-value'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import { toPlainName } from '@rideau/llm/upstream/reserved-names'

/** Blanks are read up to a bound. What is behind more may be anything. */
const VIDEO = /^(?:\s{1000}|\s*data:(?:\s{1000}|\s*video\/))/i
/** Kinds and fields of parts with a video, as a file or as its frames, whatever media type its data has. */
const OF_VIDEO = /video/i
/** A video, or files that the provider keeps, in the place of an address or data: an image too may be any document. */
const isNotMeasured = (text: string): boolean => VIDEO.test(text) || isStoredFiles(text)
/** Alibaba's words for more tokens of an image than usual, beside its address or within. */
const PIXELS: ReadonlySet<string> = new Set([
  'maxpixels',
  'minpixels',
  'totalpixels',
  'vlhighresolutionimages',
])

/** What a key's bound on costs and a reservation ask of one request, and each target of an alias. null: there is none. */
const known = new WeakMap<ParsedChat, string | null>()

/**
 * Returns the path of the first content that is not in the body: files, audio and video by an address or an id, which may be
 * of any length. So may a video in the body, since a second of a still picture takes a few bytes. Images by address do not count,
 * since an image of any size takes about as many tokens.
 */
export function findUnmeasured(parsed: ParsedChat): string | undefined {
  const path = known.get(parsed)
  return path === undefined ? runAtOnce(searchUnmeasured(parsed)) : (path ?? undefined)
}

/** Does what findUnmeasured does, in short steps. What it finds is known from then on, so that a long request is searched in turns. */
export function* searchUnmeasured(parsed: ParsedChat): Generator<void, string | undefined> {
  const path = yield* search(parsed)
  known.set(parsed, path ?? null)
  return path
}

function* search({ findings, request: { messages } }: ParsedChat): Generator<void, string | undefined> {
  const [unread] = findings.unmeasured
  if (unread !== undefined) return unread
  const left = allTextsLeft()
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message
    const { role, content } = message
    // Moonshot reads what it keeps in the place of such a message.
    if ((role as string) === 'cache') return `messages[${at}]`
    // OpenAI reads the audio of an earlier answer again, which it keeps under this id.
    if ((message as { audio?: unknown }).audio) return `messages[${at}].audio`
    if (Array.isArray(content)) {
      for (let index = 0; index < content.length; index++) {
        if (yield* searchPart(content[index] as ContentPart, role, left))
          return `messages[${at}].content[${index}]`
        yield
      }
    }
    if (yield* searchMessage(role, content)) return `messages[${at}].content${yield* locate(role, content)}`
    yield
  }
  return undefined
}

/** Whether a part alone is such content. Texts of a system message are searched together. */
function* searchPart(part: ContentPart, role: string, left: TextsLeft): Generator<void, boolean> {
  const { type } = part
  if (type === 'text') return isSpeaker(role) && isStoredFiles(part.text)
  if (type === 'refusal') return false
  if (OF_VIDEO.test(type)) return true
  if (yield* searchNames(part, name => OF_VIDEO.test(name) || isOfPixels(name))) return true
  if (yield* searchNames(toObject(part.image_url) ?? {}, isOfPixels)) return true
  // First, since it bounds the texts. Those that the gateway knows are counted (packed-files.ts).
  if (!isNativePart(type) && (yield* searchPackedFile(part, left))) return true
  if (yield* searchTexts(part, isNotMeasured)) return true
  return type !== 'image_url' && (yield* searchContent(part))
}

/** Returns the place of the part that stands for files in a system message; '': several parts do so together. */
function* locate(role: string, content: Message['content']): Generator<void, string> {
  if (isSpeaker(role) || !Array.isArray(content)) return ''
  for (let index = 0; index < content.length; index++) {
    const { text } = content[index] as ContentPart
    if (typeof text === 'string' && (yield* searchStoredFiles([text]))) return `[${index}]`
    yield
  }
  return ''
}

function isOfPixels(name: string): boolean {
  return PIXELS.has(toPlainName(name))
}
