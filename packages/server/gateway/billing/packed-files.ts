import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { findMediaType } from '@rideau/llm/request/media-type'
import type { ContentPart } from '@rideau/llm/request/message'
import { isImage } from './count-input.ts'
import { findData } from './heard-tokens.ts'

/** A longer text has more tokens than most context windows, so it is not read. */
const MAX_READ_CHARS = 1_048_576
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
  for (const { content } of messages) {
    if (Array.isArray(content) && content.some(isPacked)) return Number.POSITIVE_INFINITY
  }
  return 0
}

/** Verdicts on files: an alias asks once for each of its targets. */
const known = new WeakMap<ContentPart, boolean>()

function isPacked(part: ContentPart): boolean {
  const { type } = part
  if (type === 'text' || type === 'input_audio' || (type === 'image_url' && isImage(part))) return false
  const data = findData(part)
  if (data === undefined || findMediaType(part)?.startsWith('audio/') === true) return false
  const verdict = known.get(part) ?? !isPlainText(data)
  known.set(part, verdict)
  return verdict
}

function isPlainText(base64: string): boolean {
  if (base64.length > MAX_READ_CHARS || !BASE64.test(base64)) return false
  const bytes = Buffer.from(base64, 'base64')
  return !bytes.includes(PDF_MARK) && bytes.every(byte => byte >= FIRST_PRINTED || SPACES.has(byte))
}
