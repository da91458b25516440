import { isLine } from '@rideau/llm/request/bounded-text'

/** Prefixes of end-user ids that only the app assigns: to attested devices, and to members in the playground. */
const RESERVED_PREFIXES = ['device:', 'member:']

const MAX_END_USER_ID = 255

/** True for an end-user id that a backend or an identity provider may use: 1-255 characters without control characters. */
export function isEndUserId(text: string): boolean {
  return text.length > 0 && isLine(text, MAX_END_USER_ID)
}

export function isReservedEndUserId(text: string): boolean {
  return RESERVED_PREFIXES.some(prefix => text.startsWith(prefix))
}

/** The limit of `end_user.attributes`, in bytes of JSON. */
export const MAX_ATTRIBUTES_BYTES = 4096
