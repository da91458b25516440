/** `2026-11-21T12:34:` */
const MINUTE_CHARS = 17
const ISO_CHARS = 24
const ZERO = 48

/**
 * Reads the times of a batch, in ISO 8601 with milliseconds. Most of them are in the same minute, so only what
 * differs from the one before is converted.
 */
export class RecordTimes {
  #readText = ''
  #readMs = Number.NaN

  /** Returns Unix milliseconds; NaN if the text is no time. */
  toMs(text: string): number {
    if (text.length !== ISO_CHARS) return Date.parse(text)
    if (this.#readText === '' || !text.startsWith(this.#readText)) {
      this.#readText = text.slice(0, MINUTE_CHARS)
      this.#readMs = Date.parse(`${this.#readText}00.000Z`)
    }
    return this.#readMs + digits(text, 17, 2) * 1_000 + digits(text, 20, 3)
  }
}

function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at++) value = value * 10 + text.charCodeAt(at) - ZERO
  return value
}
