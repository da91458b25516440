const SPACE = 32
const QUOTE = 34
const COLON = 58
const BRACKET = 91
const BACKSLASH = 92

/** The longest event that is compared, in bytes. Longer ones are rare, and the next one is seldom like them. */
const MAX_EVENT_BYTES = 2_048
/** The length in bytes from which the runtime's comparison is cheaper than a loop. */
const LONG_BYTES = 64
/** Strings that may differ. OpenAI's chunks have two: the text and a padding of random letters. */
const MAX_HOLES = 4
/** The number of events unlike any earlier one after which a stream is no longer compared. */
const MAX_RESTARTS = 8

/** Bytes that all events of the shape have. */
interface Piece {
  readonly bytes: Buffer
  /** Start and end of each range of `nulls` in it, counted from its start. */
  readonly nulls: readonly number[]
}

/** The event that was learned last, and which strings in it may differ. */
interface Sample {
  readonly bytes: Buffer
  /** Start and end of the text of each such string, without its quotes. */
  readonly holes: readonly number[]
  readonly nulls: readonly number[]
}

/**
 * What consecutive events of a stream have in common: all bytes but a few string values. An event that differs from an
 * examined one only there needs no examination of its own, and a comparison is several times cheaper.
 *
 * `isDoubtful` names the first bytes of strings that have to be examined although they are values.
 */
export class EventShape {
  readonly #isDoubtful: Uint8Array
  #pieces: readonly Piece[] = []
  #sample: Sample | undefined
  #restarts = 0

  constructor(isDoubtful: Uint8Array) {
    this.#isDoubtful = isDoubtful
  }

  /**
   * The end of the event at `start` if it has the shape. 0: it has not. -1: a string in it has to be examined. Adds the
   * ranges of nulls to `nulls`; after 0 and -1 some may have been added that do not count.
   */
  match(chunk: Buffer, start: number, nulls: number[]): number {
    const pieces = this.#pieces
    let at = start
    for (let k = 0; k < pieces.length; k++) {
      const { bytes, nulls: ranges } = pieces[k] as Piece
      if (k > 0) {
        at = this.#endOfText(chunk, at)
        if (at <= 0) return at
      }
      const { length } = bytes
      if (at + length > chunk.length) return 0
      if (!isAt(bytes, chunk, at)) return 0
      for (let i = 0; i < ranges.length; i++) nulls.push(at + (ranges[i] as number))
      at += length
    }
    return at === start ? 0 : at
  }

  /** Takes in an event that was examined: its bytes, and the ranges of nulls in it, counted from its start. */
  learn(event: Buffer, nulls: readonly number[]): void {
    if (this.#restarts >= MAX_RESTARTS || event.length > MAX_EVENT_BYTES) return
    const sample = this.#sample
    let holes = sample === undefined ? undefined : findHoles(sample, event)
    if (holes === undefined) {
      holes = []
      this.#restarts++
    }
    this.#sample = { bytes: Buffer.from(event), holes, nulls }
    this.#pieces = this.#restarts >= MAX_RESTARTS ? [] : toPieces(this.#sample)
  }

  /** The closing quote of the string whose text begins at `start`. 0: there is none. -1: it has to be examined. */
  #endOfText(chunk: Buffer, start: number): number {
    if (this.#isDoubtful[chunk[start] ?? 0] === 1) return -1
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte > BACKSLASH) continue
      if (byte === QUOTE) return at
      if (byte === BACKSLASH) {
        at++
        if (chunk[at] === QUOTE) return -1
      } else if (byte === BRACKET) return -1
      else if (byte < SPACE) return 0
    }
    return 0
  }
}

/** Returns true if the chunk has these bytes at the position. It must be long enough. */
function isAt(bytes: Buffer, chunk: Buffer, at: number): boolean {
  const { length } = bytes
  if (length >= LONG_BYTES) return bytes.compare(chunk, at, at + length) === 0
  for (let i = 0; i < length; i++) if (chunk[at + i] !== bytes[i]) return false
  return true
}

/** Where the event differs from the sample, if only in string values, in the event's positions; else undefined. */
function findHoles({ bytes, holes: known }: Sample, event: Buffer): number[] | undefined {
  const holes: number[] = []
  let next = 0
  /** Where the text of the string begins that `i` and `j` are in; 0: in none. */
  let from = 0
  let eventFrom = 0
  let i = 0
  let j = 0
  while (i < bytes.length && j < event.length) {
    const isKnown = from > 0 && from === known[next] && i === from
    if (isKnown || bytes[i] !== event[j]) {
      if (from === 0) return undefined
      if (isKnown) next += 2
      i = endOfString(bytes, from)
      j = endOfString(event, eventFrom)
      if (!isValue(event, eventFrom, j) || holes.length >= 2 * MAX_HOLES) return undefined
      holes.push(eventFrom, j)
      // Both are at the closing quote now.
    }
    const byte = event[j] as number
    if (byte === QUOTE) {
      from = from === 0 ? i + 1 : 0
      eventFrom = j + 1
    } else if (byte === BACKSLASH && from > 0) {
      i++
      j++
    }
    i++
    j++
  }
  return i === bytes.length && j === event.length ? holes : undefined
}

/** The quote that closes the string, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** Returns true if the string is the value of a field. A name must not differ. */
function isValue(event: Buffer, from: number, to: number): boolean {
  let before = from - 2
  while (event[before] === SPACE) before--
  let after = to + 1
  while (event[after] === SPACE) after++
  return event[before] === COLON && event[to] === QUOTE && event[after] !== COLON
}

function toPieces({ bytes, holes, nulls }: Sample): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (let k = 0; k <= holes.length; k += 2) {
    const end = holes[k] ?? bytes.length
    const inside = nulls.filter(at => at >= start && at <= end).map(at => at - start)
    pieces.push({ bytes: bytes.subarray(start, end), nulls: inside })
    start = holes[k + 1] ?? end
  }
  return pieces
}
