import { MAX_JSON_DEPTH } from '../../../json/json-bounds.ts'
import { type Json, type JsonObject, toObject } from '../../../json/json-value.ts'
import { parseUnreadText } from '../../../json/parse-text.ts'

/**
 * Parses JSON that stands in a string, such as a call's arguments, for a format that has it as a value. Throws for any other
 * text, and for one that is nested deeper than a body may be: JSON.stringify overflows the stack at some thousands of levels.
 */
export function parseInnerJson(text: string): Json {
  if (isTooDeep(text)) throw new Error(`nested more than ${MAX_JSON_DEPTH} levels deep`)
  return parseUnreadText(text)
}

/** Parses like `parseInnerJson`. undefined: it throws, or the value is not an object. */
export function parseInnerObject(text: string): JsonObject | undefined {
  try {
    return toObject(parseInnerJson(text))
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Returns true if the JSON is nested too deep. For a text that is no JSON the result means nothing. */
function isTooDeep(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (isInString) {
      if (code === BACKSLASH) at++
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth++
      if (depth > MAX_JSON_DEPTH) return true
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return false
}
