const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b

/**
 * Counts what JSON.parse would make of a text at the most, a piece of it at a time: names, strings, objects and lists, and
 * whatever else a comma separates as a sixteenth. Of what is not JSON the count means nothing.
 */
export class PartCounter {
  private parts = 0
  private commas = 0
  private isInString = false
  private isEscaped = false

  get count(): number {
    return this.parts + (this.commas >> 4)
  }

  add(text: string, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at)
      if (this.isEscaped) this.isEscaped = false
      else if (this.isInString) {
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
