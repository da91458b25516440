import { isLine } from '@rideau/llm/request/bounded-text'

/** Prefixes of end-user ids that only the app assigns: to attested devices, and to members in the playground. */
const RESERVED_PREFIXES = ['device:', 'member:']

const MAX_END_USER_ID = 255

/** What no plain spelling of a prefix has: capitals, blanks, and characters that are not ASCII. */
const UNUSUAL = /[^\x21-\x40\x5b-\x7e]/
/** Blanks, and characters that are not seen. */
const UNSEEN = /[\s\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** True for an end-user id that a backend or an identity provider may use: 1-255 characters without control characters. */
export function isEndUserId(text: string): boolean {
  return text.length > 0 && isLine(text, MAX_END_USER_ID)
}

/**
 * True also for an id that only looks like a reserved one, such as ` Member:ann` or one in full-width letters: people read them in logs. Letters
 * of other scripts that look alike, such as a Cyrillic e, are not looked for.
 */
export function isReservedEndUserId(text: string): boolean {
  const start = text.slice(0, MAX_END_USER_ID)
  const plain = UNUSUAL.test(start) ? start.normalize('NFKC').replace(UNSEEN, '').toLowerCase() : start
  return RESERVED_PREFIXES.some(prefix => plain.startsWith(prefix))
}

/** The limit of `end_user.attributes`, in bytes of JSON. */
export const MAX_ATTRIBUTES_BYTES = 4096
