import type { Json } from '../json/json-value.ts'
import type { JsonTexts } from '../upstream/json-texts.ts'
import { toPlainName } from '../upstream/reserved-names.ts'

/** An address that a provider may fetch, or a data URL. */
const ADDRESS = /^\s*(?:data:|[a-z][a-z\d+.-]*:\/\/)/i
/** Base64 has no white space between its letters; a longer text of one word is nothing else. */
const LONG_WORD = /^\s*\S{512}/
const OF_IMAGES = /image|reference|mask|picture|photo/
/** How images are made, by the ends of such names. */
const OF_SETTINGS = /(?:size|format|style|ratio|resolution|quality|type|width|height)$/

/**
 * Whether a field that the gateway does not read has an image, at any depth: by its name, or as an address, a data URL or base64. Its
 * tokens would be priced by no one.
 */
export function namesImage(name: string, given: Json, texts: JsonTexts): boolean {
  const value = typeof given === 'string' ? texts.read(given) : given
  if (value === undefined) return true
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return false
  const plain = toPlainName(name)
  if (OF_IMAGES.test(plain) && !OF_SETTINGS.test(plain)) return true
  if (typeof value === 'string') return ADDRESS.test(value) || LONG_WORD.test(value)
  if (Array.isArray(value)) return value.some(entry => namesImage('', entry, texts))
  return Object.entries(value).some(([inner, each]) => each !== undefined && namesImage(inner, each, texts))
}
