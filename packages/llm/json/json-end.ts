const QUOTE = 34
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Finds out, piece by piece, whether a text is a whole JSON object or list. */
export class JsonEnd {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isBegun = false

  /** Reads the next piece of the text. Each character is read once. */
  add(text: string): void {
    for (let at = 0; at < text.length; at++) this.#read(text.charCodeAt(at))
  }

  /** True if every object and list that the text opened is closed. False for an empty text. */
  get isWhole(): boolean {
    return this.#isBegun && this.#depth <= 0 && !this.#isInString
  }

  #read(char: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (char === BACKSLASH) this.#isEscaped = true
      else if (char === QUOTE) this.#isInString = false
      return
    }
    if (char === QUOTE) this.#isInString = true
    else if (char === OPEN_OBJECT || char === OPEN_LIST) {
      this.#depth++
      this.#isBegun = true
    } else if (char === CLOSE_OBJECT || char === CLOSE_LIST) this.#depth--
  }
}
