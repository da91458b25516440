const QUOTE = 34
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Finds out, piece by piece, whether a text is a whole JSON object or list. Looks at its brackets and strings only. */
export class JsonEnd {
  /** The brackets that close what is open, outermost first. */
  readonly #closers: number[] = []
  #state: 'not begun' | 'open' | 'in string' | 'escaped' | 'whole' | 'broken' = 'not begun'

  /** Reads the next piece of the text. Each character is read once. */
  add(text: string): void {
    for (let at = 0; at < text.length && this.#state !== 'broken'; at++) this.#read(text.charCodeAt(at))
  }

  /** True if every object and list that the text opened is closed. False for an empty text and for one that is no JSON. */
  get isWhole(): boolean {
    return this.#state === 'whole'
  }

  #read(char: number): void {
    if (this.#state === 'open') this.#readOpen(char)
    else if (this.#state === 'escaped') this.#state = 'in string'
    else if (this.#state === 'in string') {
      if (char === BACKSLASH) this.#state = 'escaped'
      else if (char === QUOTE) this.#state = 'open'
    } else if (!isWhiteSpace(char)) {
      this.#state = this.#state === 'not begun' && this.#opens(char) ? 'open' : 'broken'
    }
  }

  #readOpen(char: number): void {
    if (char === QUOTE) this.#state = 'in string'
    else if (char === CLOSE_OBJECT || char === CLOSE_LIST) {
      if (this.#closers.pop() !== char) this.#state = 'broken'
      else if (this.#closers.length === 0) this.#state = 'whole'
    } else this.#opens(char)
  }

  #opens(char: number): boolean {
    if (char === OPEN_OBJECT) this.#closers.push(CLOSE_OBJECT)
    else if (char === OPEN_LIST) this.#closers.push(CLOSE_LIST)
    else return false
    return true
  }
}

function isWhiteSpace(char: number): boolean {
  return char === 32 || char === 10 || char === 13 || char === 9
}
