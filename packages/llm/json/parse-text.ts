import type { Json, JsonObject } from './json-value.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NONE = -1
/** A colon is assumed after white space that fills the rest of the examined text. */
const COLON = /^\s*(?::|\s{63}$)/

/**
 * Whether this runtime reads some names wrong. V8 13.6 (Node 24) compares a name with the one that an earlier object had in
 * its place: as many characters as the name means, but of its written form. `"\u006dodel"` means five, and is read as
 * `\u006` after an object with a field of that name. A caller could so hide a field from every check, and the provider reads it.
 */
function confusesNames(): boolean {
  for (let again = 0; again < 8; again++) JSON.parse('{"confusesNames":0,"\\\\u006":0}')
  return !('model' in JSON.parse('{"confusesNames":0,"\\u006dodel":0}'))
}

const CONFUSES_NAMES = confusesNames()

/** JSON.parse with the names that are written. `hasEscapedNames`: a name of the text may have an escape. Throws SyntaxError. */
export function parseText(text: string, hasEscapedNames: boolean): Json {
  return hasEscapedNames && CONFUSES_NAMES ? parseByText(text) : (JSON.parse(text) as Json)
}

/** Parses a text like `parseText`, and finds out by itself whether a name has an escape. */
export function parseUnreadText(text: string): Json {
  return parseText(text, CONFUSES_NAMES && hasEscapedName(text))
}

/**
 * Returns true if a string of a valid text has an escape and a colon behind it. Searches for quotes and backslashes instead of reading every
 * character, which would take 50 ms of 16 Mi characters: usual texts take 1 to 30, those that are dense with escapes up to 125.
 */
export function hasEscapedName(text: string): boolean {
  // The next of each, at or after `at`. NONE: there is no other.
  let slash = text.indexOf('\\')
  let quote = slash === NONE ? NONE : text.indexOf('"')
  while (quote !== NONE) {
    let at = quote + 1
    let isEscaped = false
    quote = text.indexOf('"', at)
    if (slash !== NONE && slash < at) slash = text.indexOf('\\', at)
    while (slash !== NONE && slash < quote) {
      isEscaped = true
      at = slash + 2
      while (text.charCodeAt(at) === BACKSLASH) at += 2
      slash = text.indexOf('\\', at)
      if (quote < at) quote = text.indexOf('"', at)
    }
    if (quote === NONE) return false
    if (isEscaped && COLON.test(text.slice(quote + 1, quote + 65))) return true
    if (slash === NONE) return false
    quote = text.indexOf('"', quote + 1)
  }
  return false
}

/** Parses like JSON.parse, several times slower, one value after the other. Throws RangeError for some thousand levels. */
export function parseByText(text: string): Json {
  JSON.parse(text)
  return new TextReader(text).readValue()
}

/** Sets a field like JSON.parse does: as an own field, even if its name has a meaning in JavaScript. */
export function setOwn(target: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Reads a text that is JSON. */
class TextReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  readValue(): Json {
    const first = this.#next()
    if (first === '{') return this.#readObject()
    if (first === '[') return this.#readList()
    return first === '"' ? this.#readString() : this.#readScalar()
  }

  #readObject(): JsonObject {
    const object: JsonObject = {}
    this.#at++
    while (this.#next() !== '}') {
      const name = this.#readString()
      this.#next()
      // The colon.
      this.#at++
      setOwn(object, name, this.readValue())
      if (this.#next() === ',') this.#at++
    }
    this.#at++
    return object
  }

  #readList(): Json[] {
    const list: Json[] = []
    this.#at++
    while (this.#next() !== ']') {
      list.push(this.readValue())
      if (this.#next() === ',') this.#at++
    }
    this.#at++
    return list
  }

  #readString(): string {
    const start = this.#at
    let end = start + 1
    for (let code = this.#text.charCodeAt(end); code !== QUOTE; code = this.#text.charCodeAt(end))
      end += code === BACKSLASH ? 2 : 1
    this.#at = end + 1
    // JSON.parse copies. A slice, as V8 makes it of 13 characters or more, would keep the whole text for as long as itself is kept.
    return JSON.parse(this.#text.slice(start, end + 1)) as string
  }

  #readScalar(): Json {
    const start = this.#at
    while (this.#at < this.#text.length && !',]} \n\r\t'.includes(this.#text[this.#at] as string)) this.#at++
    return JSON.parse(this.#text.slice(start, this.#at)) as Json
  }

  /** Returns the next character that is no white space, and stays there. */
  #next(): string | undefined {
    while (' \n\r\t'.includes(this.#text[this.#at] ?? 'x')) this.#at++
    return this.#text[this.#at]
  }
}
