import type { Json } from './json-value.ts'
import { UnwrittenBase64 } from './unwritten-base64.ts'

/** What any value and any name costs besides its characters, as so many of them. */
const LEAST_CHARS = 32
const TOO_LONG = -1

/**
 * Returns what is left of `room`, in characters, after a value that is encoded or copied. Less than 0: the value is longer, and its
 * rest was not looked at. `least`: what a value and a name cost besides their characters.
 */
export function weighJson(value: Json | undefined, room: number, least = LEAST_CHARS): number {
  let left = room - least
  if (typeof value === 'string') return left - value.length
  if (typeof value !== 'object' || value === null) return left
  if (value instanceof UnwrittenBase64) return TOO_LONG
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = weighJson(value[at], left, least)
    return left
  }
  for (const name in value) {
    left = weighJson(value[name], left - name.length - least, least)
    if (left < 0) break
  }
  return left
}
