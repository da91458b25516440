import type { Json } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import { isLine, isText, type LogMetadata } from '../../../request/bounded-text.ts'
import { invalid } from './read-fields.ts'

const MAX_PAIRS = 16
/** The bounds that OpenAI's API has. */
const MAX_KEY = 64
const MAX_VALUE = 512

/** A format's own field for pairs of strings, which are kept with the log. */
interface MetadataField {
  readonly name: string
  /** True if only pairs of strings are accepted; otherwise other values are for the provider alone. */
  readonly isStrict: boolean
  readonly maxKey: number
}

export const NATIVE_METADATA: MetadataField = { name: 'metadata', isStrict: true, maxKey: MAX_KEY }
export const OPENAI_METADATA: MetadataField = { name: 'metadata', isStrict: false, maxKey: MAX_KEY }
export const GEMINI_LABELS: MetadataField = { name: 'labels', isStrict: false, maxKey: MAX_KEY }
/** AWS takes longer names than others. */
export const CONVERSE_METADATA: MetadataField = { name: 'requestMetadata', isStrict: false, maxKey: 256 }

/**
 * Returns what is kept with the log: up to 16 pairs of strings. In a format of another company more than these are kept by
 * its provider alone; text that is too long or malformed is refused in every format.
 */
export function parseLogMetadata(value: Json | undefined, field: MetadataField): LogMetadata | null {
  if (value === undefined || value === null) return null
  const { name, isStrict, maxKey } = field
  if (!isObject(value)) {
    if (isStrict) throw invalid(name, 'must be an object.')
    return null
  }
  const pairs: [string, string][] = []
  for (const key in value) {
    const text = value[key]
    if (!isStrict && typeof text !== 'string') continue
    // A key that may be long names nothing in an answer.
    if (key.length === 0 || !isLine(key, maxKey)) {
      throw invalid(name, `must have keys of 1 to ${maxKey} characters, none of them a control character.`)
    }
    const at = `${name}.${key}`
    if (typeof text !== 'string') throw invalid(at, 'must be a string.')
    if (!isText(text, MAX_VALUE)) {
      throw invalid(at, `must have at most ${MAX_VALUE} characters of well-formed Unicode.`)
    }
    if (pairs.length === MAX_PAIRS) {
      if (isStrict) throw invalid(name, `must have at most ${MAX_PAIRS} pairs.`)
      return null
    }
    pairs.push([key, text])
  }
  if (pairs.length === 0 && !isStrict) return null
  return Object.fromEntries(pairs) as LogMetadata
}
