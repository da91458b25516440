import type { Json } from '../json/json-value.ts'
import { parseUnreadText } from '../json/parse-text.ts'
import { PartCounter } from '../json/part-counter.ts'

/** What the texts that hold JSON may have together: twice what the fields of a form may. */
const MAX_CHARACTERS = 512 * 1024
/** The most names, strings, objects and lists. JSON.parse makes them in about ten milliseconds. */
const MAX_PARTS = 16_384

/**
 * Reads the JSON in the strings of one body. It is parsed at once, and the bounds of the body do not apply inside a string,
 * so all strings of the body share a bound of their own.
 */
export class JsonTexts {
  private readonly counter = new PartCounter()
  private characters = 0

  /** Returns what a string says; the string itself if it is not an object or a list; undefined if it is too much. */
  read(text: string): Json | undefined {
    if (!/^\s*[[{]/.test(text)) return text
    this.characters += text.length
    if (this.characters > MAX_CHARACTERS) return undefined
    this.counter.add(text, 0, text.length)
    this.counter.end()
    if (this.counter.count > MAX_PARTS) return undefined
    try {
      return parseUnreadText(text)
    } catch (error) {
      // Nested too deeply to be read.
      return error instanceof RangeError ? undefined : text
    }
  }
}
