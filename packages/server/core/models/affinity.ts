import type { ContentPart, Message } from '@rideau/llm/request/message'
import { hashText } from './rendezvous.ts'

/** Characters of the instructions, and of the first message of the user, that tell conversations apart. */
const MAX_CHARS = 4096
const MAX_MESSAGES = 8

/**
 * Returns a hash of what stays the same in a conversation: its end user, else its instructions and the first message of the
 * user. Undefined if there is neither. Requests of one conversation go to one target and credential by it, where the provider
 * has cached the prompt.
 */
export function affinityOf(
  endUserId: string | undefined,
  messages: readonly Message[] | undefined,
): number | undefined {
  if (endUserId !== undefined) return hashText(endUserId, MAX_CHARS)
  if (messages === undefined || messages.length === 0) return undefined
  let hash: number | undefined
  const end = Math.min(messages.length, MAX_MESSAGES)
  for (let at = 0; at < end; at++) {
    const { role, content } = messages[at] as Message
    if (role !== 'system' && role !== 'developer' && role !== 'user') continue
    hash = hashText(role, MAX_CHARS, hash)
    if (typeof content === 'string') hash = hashText(content, MAX_CHARS, hash)
    else if (Array.isArray(content)) hash = hashParts(content, hash)
    if (role === 'user') return hash
  }
  return hash
}

function hashParts(parts: readonly ContentPart[], from: number): number {
  let hash = from
  let remainingChars = MAX_CHARS
  for (let at = 0; at < parts.length && at < MAX_MESSAGES && remainingChars > 0; at++) {
    const text = parts[at]?.text
    if (typeof text !== 'string') continue
    hash = hashText(text, remainingChars, hash)
    remainingChars -= text.length
  }
  return hash
}
