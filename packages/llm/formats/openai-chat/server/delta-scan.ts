import { EventShape } from './event-shape.ts'

const NEWLINE = 10
const SPACE = 32
const QUOTE = 34
const COMMA = 44
const COLON = 58
const BRACKET = 91
const BRACE = 123

const KEY = {
  error: Buffer.from('"error"'),
  usage: Buffer.from('"usage"'),
  finish: Buffer.from('"finish_reason"'),
  details: Buffer.from('"reasoning_details"'),
  calls: Buffer.from('"tool_calls"'),
  call: Buffer.from('"function_call"'),
}
const NULL = Buffer.from('null')
const DONE = Buffer.from('[DONE]')

/** The first letters of the names above: of most strings nothing else is looked at. */
const IS_FIRST = new Uint8Array(256)
for (const key of Object.values(KEY)) IS_FIRST[key[1] ?? 0] = 1

/**
 * Finds the events at the start of a chunk that only continue an answer, so that the gateway has nothing to read or to
 * change in them. One pass over the bytes: a search for each mark would read every event seven times. An event like an earlier
 * one is only compared.
 *
 * Quotes inside a JSON string are escaped, so a quoted name that is found is a whole string: a key, or the like of it. In
 * doubt an event counts as one to be decoded.
 */
export class DeltaScan {
  /** The length in bytes of the events found. */
  length = 0
  /** How many events were found. */
  events = 0
  /** Reasoning that has to come back to the provider was seen: calls after it must be decoded. Stays true. */
  hasDetails = false
  /** A call of a tool was seen. Stays true. */
  hasCalls = false
  /** Start and end of each `"usage": null` in the events found, one comma included. */
  readonly nulls: number[] = []
  readonly #shape = new EventShape(IS_FIRST)

  scan(chunk: Buffer): void {
    this.length = 0
    this.events = 0
    this.nulls.length = 0
    while (this.length < chunk.length) {
      const end = this.#endOfEvent(chunk)
      if (end === 0) break
      this.length = end
      this.events++
    }
  }

  /** The end of the next event if it may pass, else 0. */
  #endOfEvent(chunk: Buffer): number {
    const start = this.length
    const ranges = this.nulls.length
    // After reasoning that has to come back, an event like an earlier one may have to be decoded.
    const matched = this.hasDetails ? -1 : this.#shape.match(chunk, start, this.nulls)
    if (matched > 0) return matched
    this.nulls.length = ranges
    const end = this.#examine(chunk, start)
    if (end === 0) this.nulls.length = ranges
    else if (matched === 0) {
      const nulls = this.nulls.slice(ranges).map(at => at - start)
      this.#shape.learn(chunk.subarray(start, end), nulls)
    }
    return end
  }

  /** Returns the end of the next event if its bytes may pass, else 0. */
  #examine(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number
      // Most bytes are letters.
      if (byte > BRACKET) continue
      if (byte === QUOTE) {
        if (IS_FIRST[chunk[at + 1] as number] === 1 && !this.#mayPass(chunk, at)) return 0
      } else if (byte === NEWLINE) {
        if (chunk[at + 1] === NEWLINE) return at + 2
      } else if (byte === BRACKET && startsAt(chunk, at, DONE)) return 0
    }
    return 0
  }

  /** Looks at the string that a quote opens. */
  #mayPass(chunk: Buffer, at: number): boolean {
    switch (chunk[at + 1]) {
      case 101: // e
        return !startsAt(chunk, at, KEY.error)
      case 102: // f
        if (startsAt(chunk, at, KEY.call)) this.hasCalls ||= beginsObject(chunk, at + KEY.call.length)
        return !startsAt(chunk, at, KEY.finish) || endOfNull(chunk, at + KEY.finish.length) > 0
      case 114: // r
        if (!startsAt(chunk, at, KEY.details)) return true
        this.hasDetails = true
        return false
      case 116: // t
        if (!startsAt(chunk, at, KEY.calls)) return true
        this.hasCalls ||= beginsObject(chunk, at + KEY.calls.length)
        return !this.hasDetails
      case 117: // u
        return !startsAt(chunk, at, KEY.usage) || this.#mayPassUsage(chunk, at)
      default:
        return true
    }
  }

  #mayPassUsage(chunk: Buffer, at: number): boolean {
    const end = endOfNull(chunk, at + KEY.usage.length)
    if (end === 0) return false
    const start = skipBackward(chunk, at - 1)
    const next = skipForward(chunk, end)
    if (chunk[start] === COMMA) this.nulls.push(start, end)
    else if (chunk[next] === COMMA) this.nulls.push(at, next + 1)
    return true
  }
}

function startsAt(chunk: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (chunk[at + i] !== text[i]) return false
  return true
}

/** The position after a colon and `null`; 0: something else follows. */
function endOfNull(chunk: Buffer, at: number): number {
  const colon = skipForward(chunk, at)
  if (chunk[colon] !== COLON) return 0
  const value = skipForward(chunk, colon + 1)
  return startsAt(chunk, value, NULL) ? value + NULL.length : 0
}

/** Returns true if a colon and an object follow, or a list of objects. */
function beginsObject(chunk: Buffer, at: number): boolean {
  const colon = skipForward(chunk, at)
  if (chunk[colon] !== COLON) return false
  const value = skipForward(chunk, colon + 1)
  const first = chunk[value] === BRACKET ? skipForward(chunk, value + 1) : value
  return chunk[first] === BRACE
}

function skipForward(chunk: Buffer, at: number): number {
  let next = at
  while (chunk[next] === SPACE) next++
  return next
}

function skipBackward(chunk: Buffer, at: number): number {
  let next = at
  while (next > 0 && chunk[next] === SPACE) next--
  return next
}
