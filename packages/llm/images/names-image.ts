import type { Json } from '../json/json-value.ts'
import type { JsonTexts } from '../upstream/json-texts.ts'
import { toPlainName } from '../upstream/reserved-names.ts'
import { findImageType } from './image-type.ts'

/** An address that a provider may fetch, or a data URL, or what may be one behind many blanks. */
const ADDRESS = /^(?:\s{1000}|\s*(?:data:|[a-z][a-z\d+.-]{0,63}:\/\/))/i
/** Base64 has no white space between its letters; a longer word of ASCII characters is nothing else. */
const LONG_WORD = /^\s*[!-~]{512}/
/** The first letters of base64 in which an image is looked for. Lenient decoders leave out others, such as line ends. */
const HEAD_CHARS = 1_400
/** Settings that forms send as texts. The expression takes the square of a text's length, so no longer one is tested. */
const PLAIN = /^(?:[-+]?(?:\d+\.?\d*|\.\d+)|true|false|none|off|disabled)?$/i
const MAX_PLAIN = 64
/** With blanks around it. */
const MAX_PADDED = 1_024
const OF_IMAGES = /image|reference|mask|picture|photo/
/** How images are made, by the ends of such names. */
const OF_SETTINGS = /(?:size|format|style|ratio|resolution|quality|type|width|height|strength)$/

/**
 * Whether a field that the gateway does not read has an image, at any depth: by its name, or as an address, a data URL or base64. Its
 * tokens would be priced by no one.
 */
export function namesImage(name: string, given: Json, texts: JsonTexts): boolean {
  const value = typeof given === 'string' ? texts.read(given) : given
  if (value === undefined) return true
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return false
  const plain = toPlainName(name)
  const isOfImage = OF_IMAGES.test(plain) && !OF_SETTINGS.test(plain)
  if (typeof value === 'string') return isOfImage ? !isPlain(value) : isImage(value)
  if (isOfImage) return true
  if (Array.isArray(value)) return value.some(entry => namesImage('', entry, texts))
  return Object.entries(value).some(([inner, each]) => each !== undefined && namesImage(inner, each, texts))
}

function isPlain(text: string): boolean {
  if (text.length > MAX_PADDED) return false
  const trimmed = text.trim()
  return trimmed.length <= MAX_PLAIN && PLAIN.test(trimmed)
}

function isImage(text: string): boolean {
  if (ADDRESS.test(text) || LONG_WORD.test(text)) return true
  return findImageType(Buffer.from(text.slice(0, HEAD_CHARS), 'base64')) !== undefined
}
