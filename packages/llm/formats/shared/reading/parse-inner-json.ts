import { MAX_JSON_DEPTH } from '../../../json/json-bounds.ts'
import { type Json, type JsonObject, toObject } from '../../../json/json-value.ts'
import { parseUnreadText } from '../../../json/parse-text.ts'

/**
 * Parses JSON that stands in a string, such as a call's arguments, for a format that has it as a value. Throws for any other
 * text, and for one that is nested deeper than a body may be: JSON.stringify overflows the stack at some thousands of levels.
 */
export function parseInnerJson(text: string): Json {
  const value = parseUnreadText(text)
  // A shorter text cannot be.
  if (text.length > 2 * MAX_JSON_DEPTH && isTooDeep(value, MAX_JSON_DEPTH))
    throw new Error(`nested more than ${MAX_JSON_DEPTH} levels deep`)
  return value
}

/** Parses like `parseInnerJson`. undefined: it throws, or the value is not an object. */
export function parseInnerObject(text: string): JsonObject | undefined {
  try {
    return toObject(parseInnerJson(text))
  } catch {
    return undefined
  }
}

/** `levels`: how many may be nested. Looks at values, of which a text has far fewer than characters. */
function isTooDeep(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const members = Array.isArray(value) ? value : Object.values(value)
  return members.some(member => isTooDeep(member, levels - 1))
}
