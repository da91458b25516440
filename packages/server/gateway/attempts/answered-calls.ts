import { inflateToolCallId, maxCarried } from '@rideau/llm/formats/shared/reasoning/reasoning-carrier'
import { isHalfEscape } from '@rideau/llm/json/part-counter'
import { MAX_CALLS } from '@rideau/llm/reply/call-budget'
import type { ToolCallDelta } from '@rideau/llm/stream/stream-event'

/** What the calls of one answer may hold together, as characters that begin an object, a list or a string. */
const MAX_STARTS = 65_536
/** What the ids of one answer's calls may unpack to together, in characters. */
const MAX_CARRIED = 8 * 1024 * 1024

/**
 * The arguments of all calls of one answer, in characters: ten times what the longest answers have. Some formats parse and encode them
 * in one go.
 */
const MAX_ARGUMENTS = 2 * 1024 * 1024
/** What the pieces of one answer's calls may take together, in characters. Some formats keep them until the answer ends. */
const MAX_SIZE = 32 * 1024 * 1024
/** What a piece takes besides its texts, as so many characters. No model generates 160,000 pieces. */
const PIECE_SIZE = 200
/** The same for a call, which has an id. */
const CALL_SIZE = 1_000

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b

/**
 * Bounds the arguments of the tool calls in one answer. They are JSON in a string, so the bounds of the answer do not count
 * what they hold, but some formats need them as objects and parse them at once. A provider that a tenant runs could
 * otherwise block every other request. Characters are counted wherever they stand, because pieces of several calls may
 * alternate within a string.
 */
export class AnsweredCalls {
  #starts = 0
  #carried = 0
  #arguments = 0
  #size = 0
  #calls = 0

  /** Throws if the calls so far hold too much. */
  add(calls: readonly Pick<ToolCallDelta, 'id' | 'function'>[]): void {
    for (const { id, function: fn } of calls) {
      this.#size +=
        (typeof id === 'string' ? CALL_SIZE : PIECE_SIZE) +
        lengthOf(id) +
        lengthOf(fn?.name) +
        lengthOf(fn?.arguments)
      this.#arguments += lengthOf(fn?.arguments)
      if (this.#size > MAX_SIZE || this.#arguments > MAX_ARGUMENTS)
        throw new Error('the tool calls of the answer are too long')
      if (typeof id === 'string' && ++this.#calls > MAX_CALLS) {
        throw new Error(`the answer has more than ${MAX_CALLS} tool calls`)
      }
      if (typeof fn?.arguments === 'string') this.#count(fn.arguments)
      if (typeof id === 'string') this.#countCarried(id)
    }
  }

  #count(text: string): void {
    this.#starts += countStarts(text, MAX_STARTS - this.#starts)
    if (this.#starts > MAX_STARTS) throw tooMany()
  }

  #countCarried(id: string): void {
    const text = inflateToolCallId(id)
    this.#carried += text?.length ?? maxCarried(id)
    if (this.#carried > MAX_CARRIED) throw tooMany()
    if (text !== undefined) this.#count(text)
  }
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0
}

/** Stops soon above `most`. A string has two quotes. An escape of half a surrogate pair counts too, since one alone is slow to encode. */
function countStarts(text: string, most: number): number {
  let halves = 0
  for (let at = 0; at < text.length && halves <= 2 * most; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) halves += 2
    else if (code === QUOTE) halves++
    else if (code === BACKSLASH && isHalfEscape(text, at + 1)) halves += 2
  }
  return halves / 2
}

function tooMany(): Error {
  return new Error('the tool calls of the answer hold too many values')
}
