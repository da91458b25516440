const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b

const LETTER_U = 0x75
const LETTER_D = 0x64
/** Makes an ASCII letter lower case. */
const LOWER = 0x20

/**
 * Counts what JSON.parse would make of a text at the most, a piece of it at a time: names, strings, objects and lists,
 * whatever else a comma separates as a sixteenth, and an escape of a half surrogate pair as a half, since one without its other
 * half is slow to encode (lone-surrogates.ts). Of what is not JSON the count means nothing.
 */
export class PartCounter {
  private parts = 0
  private commas = 0
  private halves = 0
  private isInString = false
  private isEscaped = false

  get count(): number {
    return this.parts + (this.commas >> 4) + (this.halves >> 1)
  }

  add(text: string, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at)
      if (this.isEscaped) {
        this.isEscaped = false
        if (isHalfEscape(text, at)) this.halves++
      } else if (this.isInString) {
        if (code === QUOTE) this.isInString = false
        else if (code === BACKSLASH) this.isEscaped = true
      } else if (code === QUOTE) {
        this.isInString = true
        this.parts++
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.parts++
      else if (code === COMMA) this.commas++
    }
  }

  /** Another text follows. */
  end(): void {
    this.isInString = false
    this.isEscaped = false
  }
}

/** Returns true if the escape whose letter stands at `at` begins like those of U+D800 to U+DFFF. */
export function isHalfEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== LETTER_U) return false
  if ((text.charCodeAt(at + 1) | LOWER) !== LETTER_D) return false
  const digit = text.charCodeAt(at + 2)
  return digit === 0x38 || digit === 0x39 || ((digit | LOWER) >= 0x61 && (digit | LOWER) <= 0x66)
}
