import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { findMediaType } from '@rideau/llm/request/media-type'
import type { ContentPart } from '@rideau/llm/request/message'
import { isImage } from './count-input.ts'
import { findData } from './heard-tokens.ts'

/** A longer text has more tokens than most context windows, so it is not read. */
const MAX_READ_CHARS = 1_048_576
/** The same of all files of a request. */
const MAX_READ_TOGETHER = 2 * MAX_READ_CHARS
/** Of both alphabets. A decoder may read anything else otherwise than ours does. */
const BASE64 = /^[\w+/-]*={0,2}$/
/** A PDF may be all text, and readers look for its mark beyond the first bytes. */
const PDF_MARK = '%PDF-'
const FIRST_PRINTED = 0x20
/** Tab, line feed, form feed, carriage return. */
const SPACES: ReadonlySet<number> = new Set([9, 10, 12, 13])

/**
 * Returns Infinity if a file in the request may hold more text than its bytes show, otherwise 0. Files such as PDF, Word and Excel are
 * packed, and a page may show the same text again and again, so neither bytes nor pages bound their tokens: the context window does
 * (toMaxInput). Images, audio and plain text are counted elsewhere.
 */
export function countPackedFiles({ messages }: ChatRequest): number {
  let left = MAX_READ_TOGETHER
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      const data = findFile(part)
      if (data === undefined) continue
      left -= data.length
      if (left < 0 || !isPlainText(data)) return Number.POSITIVE_INFINITY
    }
  }
  return 0
}

/** Returns the base64 of a part that is a file. */
function findFile(part: ContentPart): string | undefined {
  const { type } = part
  if (type === 'text' || type === 'input_audio' || (type === 'image_url' && isImage(part))) return undefined
  const data = findData(part)
  return findMediaType(part)?.startsWith('audio/') === true ? undefined : data
}

function isPlainText(base64: string): boolean {
  if (base64.length > MAX_READ_CHARS || !BASE64.test(base64)) return false
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.includes(PDF_MARK)) return false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < FIRST_PRINTED && !SPACES.has(byte)) return false
  }
  return true
}
