import {
  holdsPackedFile,
  namesContent,
  namesStoredFiles,
} from '@rideau/llm/formats/shared/reading/names-content'
import { isNativePart } from '@rideau/llm/formats/shared/reading/native-parts'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import { hasData } from './has-data.ts'

const VIDEO = /^\s*data:\s*video\//i

/**
 * Returns the path of the first content that is not in the body: files, audio and video by an address or an id, which may be
 * of any length. So may a video in the body, since a second of a still picture takes a few bytes. Images by address do not count,
 * since an image of any size takes about as many tokens.
 */
export function findUnmeasured({ findings, request: { messages } }: ParsedChat): string | undefined {
  const [unread] = findings.unmeasured
  if (unread !== undefined) return unread
  for (let at = 0; at < messages.length; at++) {
    const { role, content } = messages[at] as Message
    // Moonshot reads what it keeps in the place of such a message.
    if ((role as string) === 'cache') return `messages[${at}]`
    if (namesStoredFiles(content)) return `messages[${at}].content`
    if (!Array.isArray(content)) continue
    const index = content.findIndex(isUnmeasured)
    if (index >= 0) return `messages[${at}].content[${index}]`
  }
  return undefined
}

function isUnmeasured(part: ContentPart): boolean {
  const { type } = part
  if (type === 'text') return namesStoredFiles(part.text)
  if (type === 'refusal') return false
  // Alibaba's word for more tokens of an image than usual.
  if (part.max_pixels !== undefined && part.max_pixels !== null) return true
  if (hasData(part, VIDEO) || (type !== 'image_url' && namesContent(part))) return true
  // Those that the gateway knows are counted (packed-files.ts).
  return !isNativePart(type) && holdsPackedFile(part)
}
