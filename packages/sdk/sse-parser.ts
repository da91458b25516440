/** One server-sent event. */
export interface SseEvent {
  /** `message` where the event names no type. */
  readonly event: string
  /** The lines of its data, joined by line feeds. */
  readonly data: string
}

/** A longer event is not one of a gateway. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024

const LF = 10
const CR = 13

/**
 * Parses server-sent events from pieces of text of any length, as the HTML standard says: lines end in CRLF, LF or CR,
 * comments are ignored, and an event that is not ended by an empty line is none.
 */
export class SseParser {
  #line = ''
  #event = ''
  #data: string[] = []
  #characters = 0
  #isStart = true
  /** The last piece ended in CR: an LF at the start of the next one belongs to it. */
  #endedInCr = false

  /** Returns the events that this piece completes. Throws a RangeError for an event that is too long. */
  push(text: string): SseEvent[] {
    const events: SseEvent[] = []
    if (text === '') return events
    let from = 0
    if (this.#endedInCr && text.charCodeAt(0) === LF) from = 1
    this.#endedInCr = false
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== LF && code !== CR) continue
      const line = this.#line + text.slice(from, at)
      this.#line = ''
      if (code === CR) {
        if (at + 1 === text.length) this.#endedInCr = true
        else if (text.charCodeAt(at + 1) === LF) at++
      }
      from = at + 1
      this.#readLine(line, events)
    }
    this.#line += text.slice(from)
    if (this.#line.length + this.#characters > MAX_EVENT_CHARACTERS) {
      throw new RangeError(`An event of the stream has more than ${MAX_EVENT_CHARACTERS} characters.`)
    }
    return events
  }

  #readLine(given: string, events: SseEvent[]): void {
    const line = this.#isStart && given.startsWith('\uFEFF') ? given.slice(1) : given
    this.#isStart = false
    if (line === '') return this.#dispatch(events)
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const start = line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1
    const value = colon === -1 ? '' : line.slice(start)
    if (field === 'event') this.#event = value
    else if (field === 'data') {
      this.#data.push(value)
      this.#characters += value.length
    }
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0) {
      events.push({ event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') })
    }
    this.#event = ''
    this.#data = []
    this.#characters = 0
  }
}
