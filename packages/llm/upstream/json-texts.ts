import type { Json } from '../json/json-value.ts'
import { mayBeContainer } from '../json/may-be-container.ts'
import { parseUnreadText } from '../json/parse-text.ts'
import { PartCounter } from '../json/part-counter.ts'

/** What the texts that hold JSON may have together: twice what the fields of a form may. */
const MAX_CHARACTERS = 512 * 1024
/** The most names, strings, objects and lists. JSON.parse makes them in about ten milliseconds. */
const MAX_PARTS = 16_384
/** The most characters of the names that are looked up. A lookup takes up to 140 nanoseconds a character where names are short, and 80 where they are long. */
export const MAX_NAME_CHARACTERS = 512 * 1024
/** The same in content, of which a long conversation has more: up to 65,536 names together with its texts. */
export const MAX_CONTENT_NAME_CHARACTERS = 1024 * 1024
/** Longer names count as so many: they are known by their length. Shorter ones take time too. */
const LONG_NAME = 200
const SHORT_NAME = 8

/** The names of the body have too many characters, a name stands for too many nested ones, or a text may say more than is read of it. */
export type Unchecked = 'names' | 'nested' | 'text'

/**
 * Reads the JSON in the strings of one body. It is parsed at once, and the bounds of the body do not apply inside a string,
 * so all strings of the body share a bound of their own. So do the names that are looked up.
 */
export class JsonTexts {
  private readonly counter = new PartCounter()
  private characters = 0
  private nameCharacters = 0
  private contentNameCharacters = 0
  /** What a field has that was refused because it cannot be checked; undefined: none was. */
  unchecked: Unchecked | undefined

  /** Counts a name that is looked up. Returns false if the names of the body have too many characters. */
  addName(name: string): boolean {
    this.nameCharacters += countedLength(name)
    if (this.nameCharacters <= MAX_NAME_CHARACTERS) return true
    this.unchecked = 'names'
    return false
  }

  /** The same of names in content that the gateway does not read. */
  addContentName(name: string): boolean {
    this.contentNameCharacters += countedLength(name)
    return this.contentNameCharacters <= MAX_CONTENT_NAME_CHARACTERS
  }

  /**
   * Returns what a string says; the string itself if it is not an object or a list; undefined if it is too much, or if another
   * parser may read other fields in it.
   */
  read(text: string): Json | undefined {
    const value = this.parse(text)
    if (value === undefined) this.unchecked = 'text'
    return value
  }

  private parse(text: string): Json | undefined {
    if (!mayBeContainer(text)) return text
    this.characters += text.length
    if (this.characters > MAX_CHARACTERS) return undefined
    this.counter.add(text, 0, text.length)
    this.counter.end()
    if (this.counter.count > MAX_PARTS) return undefined
    try {
      const value = parseUnreadText(text)
      return countWrittenNames(text) === countNames(value) ? value : undefined
    } catch (error) {
      // Nested too deeply to be read, or in another language than JSON: Python reads NaN, others single quotes or no quotes at all.
      return error instanceof RangeError || isLenientJson(text) ? undefined : text
    }
  }
}

/** Returns what a name counts as that is looked up. */
export function countedLength({ length }: string): number {
  return Math.min(Math.max(length, SHORT_NAME), LONG_NAME)
}

/** A name and its colon as lenient parsers read them. */
const LENIENT_NAME = /["']\s*:|^\s*\{\s*[\w$]+\s*:/

/** Whether a text that is no JSON may be read as an object. What ends within it is read by no parser. */
function isLenientJson(text: string): boolean {
  return LENIENT_NAME.test(text) && /[}\]]$/.test(text.trimEnd())
}

const TEXT = /"(?:[^"\\]|\\.)*"\s*(:)?/g

/** The names of a valid text, each as often as it stands there. */
function countWrittenNames(text: string): number {
  let count = 0
  for (const [, colon] of text.matchAll(TEXT)) if (colon !== undefined) count++
  return count
}

/** The names that were read: fewer, if one of an object stands there twice. */
function countNames(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + countNames(each), 0)
  let count = 0
  for (const name in value) count += 1 + countNames(value[name] as Json)
  return count
}
