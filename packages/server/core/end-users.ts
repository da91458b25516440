import { isLine } from '@rideau/llm/request/bounded-text'

/** Prefixes of end users that only we name: devices by their attestation, members by the playground (contract.md §3). */
const RESERVED_PREFIXES = ['device:', 'member:']

const MAX_END_USER_ID = 255

/** An end user as its own backend or identity provider names it: 1-255 characters, none of them a control character. */
export function isEndUserId(text: string): boolean {
  return text.length > 0 && isLine(text, MAX_END_USER_ID)
}

export function isReservedEndUserId(text: string): boolean {
  return RESERVED_PREFIXES.some(prefix => text.startsWith(prefix))
}

/** `end_user.attributes` in bytes of JSON (spec.md "Limits"). */
export const MAX_ATTRIBUTES_BYTES = 4096
