import { decodeText } from './decode-text.ts'
import type { Json, JsonObject } from './json-value.ts'
import { countLoneSurrogates } from './lone-surrogates.ts'
import type { OpenKeys } from './open-keys.ts'
import { parseText, setOwn } from './parse-text.ts'
import { isPlain } from './string-bytes.ts'

/** Where a walk stands. */
export interface WalkPosition {
  readonly depth: number
  /** For every open container by its depth: an object's first key in `keys`, or -1 for an array. */
  readonly frames: readonly number[]
  readonly keys: OpenKeys
  /** Where the outermost value begins, and where the last one that is complete ends. */
  readonly rootStart: number
  readonly valueEnd: number
}

/** What a member begins with was built already, up to the comma behind it. */
const BUILT = -1
const NOWHERE = -1

/**
 * Makes the value of a JSON text in pieces, while a walk goes through it: whenever the walk stops, the members that are
 * complete so far are parsed and put into their containers, also where those are still open. No call of JSON.parse gets
 * more than what lies between two stops. Every byte that the walk does not check goes through JSON.parse, which throws
 * on what is not JSON.
 */
export class ValueBuilder {
  /** The outermost value, once it is begun. */
  root: Json | undefined
  /** The lone surrogates in what was built so far. A pair that two pieces of a long string divide counts as two. */
  loneSurrogates = 0
  private readonly bytes: Buffer
  /** By depth, the open containers that are begun: always the outermost ones. */
  private readonly built: (Json[] | JsonObject)[] = []
  private builtDepth = 0
  /** By depth, from where a container's members are yet to be built, and where its incomplete member begins. */
  private readonly builtTo: number[] = []
  private readonly memberStarts: number[] = []
  /** Ranges of white space, in order, that need not be decoded: start, end, start, end. */
  private gaps: number[] = []
  /** The decoded pieces of a long string, and where a plain rest begins that is decoded in one go. */
  private pieces: string[] = []
  private plainStart = NOWHERE

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  open(depth: number, start: number): void {
    this.builtTo[depth] = start
    this.memberStarts[depth] = start
  }

  startMember(depth: number, start: number): void {
    if (this.builtTo[depth] === BUILT) this.builtTo[depth] = start
    this.memberStarts[depth] = start
  }

  /** The container at the walk's depth ends at `end`. */
  close({ depth, keys }: WalkPosition, end: number): void {
    if (depth > this.builtDepth) return
    this.append(depth, end, keys)
    this.builtDepth = depth - 1
    this.builtTo[depth - 1] = BUILT
  }

  addGap(start: number, end: number): void {
    this.gaps.push(start, end)
  }

  addStringPiece(start: number, end: number): void {
    if (isPlain(this.bytes, start, end)) {
      if (this.plainStart === NOWHERE) this.plainStart = start
      return
    }
    this.decodePlain(start)
    const piece = decodeText(this.bytes.subarray(start, end))
    this.loneSurrogates += countLoneSurrogates(piece)
    this.pieces.push(JSON.parse(`"${piece}"`) as string)
  }

  private decodePlain(end: number): void {
    if (this.plainStart !== NOWHERE) this.pieces.push(this.bytes.toString('latin1', this.plainStart, end))
    this.plainStart = NOWHERE
  }

  /** The string whose pieces were added ends at `end`; `start`: where its last piece begins. */
  endLongString(walk: WalkPosition, start: number, end: number): void {
    this.addStringPiece(start, end)
    this.decodePlain(end)
    const text = this.pieces.length === 1 ? (this.pieces[0] as string) : this.pieces.join('')
    this.pieces = []
    if (walk.depth === 0) {
      this.root = text
      return
    }
    this.build(walk)
    this.attach(walk, walk.depth, walk.keys.count, text)
    this.builtTo[walk.depth] = BUILT
  }

  /** Builds all members that are complete. The walk stopped between two tokens or in a long string. */
  build(walk: WalkPosition): void {
    const { frames, keys, depth: deepest } = walk
    for (let depth = 1; depth <= deepest; depth++) {
      if (depth > this.builtDepth) {
        const container = frames[depth] === -1 ? [] : {}
        this.built[depth] = container
        this.builtDepth = depth
        if (depth === 1) this.root = container
        else this.attach(walk, depth - 1, keysBelow(frames, depth, deepest, keys.count), container)
      }
      const memberStart = this.memberStarts[depth] as number
      if (this.builtTo[depth] === BUILT || memberStart === this.builtTo[depth]) continue
      this.append(depth, memberStart - 1, keys)
      this.builtTo[depth] = memberStart
    }
    const isAllBuilt = (this.gaps.at(-1) ?? 0) <= (this.memberStarts[deepest] ?? 0)
    if (isAllBuilt) this.gaps = []
  }

  /** The value of the whole text, whose walk is over. */
  finish({ rootStart, valueEnd, keys }: WalkPosition): Json {
    this.root ??= parseText(this.decode(rootStart, valueEnd), keys.hasEscaped)
    return this.root
  }

  /** Puts a value into the container at `depth`, for an object under its last key; `keyCount`: up to which key is its. */
  private attach({ keys }: WalkPosition, depth: number, keyCount: number, value: Json): void {
    const container = this.built[depth] as Json[] | JsonObject
    if (Array.isArray(container)) container.push(value)
    else setOwn(container, keys.parseAt(keyCount - 1), value)
  }

  /** The members from where the container is built up to `end`. */
  private append(depth: number, end: number, { hasEscaped }: OpenKeys): void {
    const start = this.builtTo[depth] as number
    if (start === BUILT) return
    const text = this.decode(start, end)
    this.loneSurrogates += countLoneSurrogates(text)
    const container = this.built[depth] as Json[] | JsonObject
    if (Array.isArray(container)) {
      for (const value of parseText(`[${text}]`, hasEscaped) as Json[]) container.push(value)
      return
    }
    const members = parseText(`{${text}}`, hasEscaped) as JsonObject
    for (const name of Object.keys(members)) setOwn(container, name, members[name] as Json)
  }

  private decode(start: number, end: number): string {
    const { bytes, gaps } = this
    let text = ''
    let from = start
    for (let index = 0; index < gaps.length; index += 2) {
      const gapStart = gaps[index] as number
      if (gapStart < from || gapStart >= end) continue
      text += decodeText(bytes.subarray(from, gapStart))
      from = Math.min(gaps[index + 1] as number, end)
    }
    return text + decodeText(bytes.subarray(from, end))
  }
}

/** How many of the open keys belong to the containers above `depth`. */
function keysBelow(frames: readonly number[], depth: number, deepest: number, count: number): number {
  for (let inner = depth; inner <= deepest; inner++) {
    const frame = frames[inner] as number
    if (frame !== -1) return frame
  }
  return count
}
