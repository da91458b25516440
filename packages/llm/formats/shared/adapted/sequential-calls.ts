import { JsonEnd } from '../../../json/json-end.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import type { DeltaEvent, ToolCallDelta } from '../../../stream/stream-event.ts'

/** Pieces of texts and reasoning that wait for the end of a call. Models finish a call before they write on. */
const MAX_WAITING = 8_192
/** The characters of them that wait together. All of what waits is encoded at once. */
const MAX_WAITING_CHARS = 2 * 1024 * 1024

/**
 * Orders the pieces of an answer for formats in which one block ends before the next one begins, so that a call gets no piece
 * after another call or a text has begun. Clients of those formats join the arguments of calls that overlap.
 *
 * Providers send one call after the other, and then nothing waits. If pieces of parallel calls alternate, those of the later
 * call wait until the arguments of the first one are whole, at the latest until the end of the answer.
 */
export class SequentialCalls {
  #current: { readonly index: number; readonly arguments: JsonEnd } | undefined
  readonly #ended = new Set<number>()
  /** In the order in which they began. From `#next` on they wait, which they do only while the current call is not whole. */
  #blocks: Block[] = []
  #next = 0
  readonly #waitingCalls = new Map<number, Block>()
  #waitingParts = 0
  #waitingChars = 0

  /** Returns what can be encoded now, each with one call at most. */
  order(event: DeltaEvent): readonly DeltaEvent[] {
    if (event.toolCalls === undefined && this.#isFree()) {
      this.#end()
      return [event]
    }
    const ready: DeltaEvent[] = []
    for (const part of splitCalls(event)) this.#accept(part, ready)
    return ready
  }

  /** Returns what waited. Called at the end of the answer. */
  finish(): readonly DeltaEvent[] {
    const ready: DeltaEvent[] = []
    while (this.#next < this.#blocks.length) this.#beginNext(ready)
    return ready
  }

  #accept(part: DeltaEvent, ready: DeltaEvent[]): void {
    const index = part.toolCalls?.[0]?.index
    // What follows the arguments of a call that has ended is white space.
    if (index !== undefined && this.#ended.has(index)) return
    if (index !== undefined && index === this.#current?.index) this.#add(part, ready)
    else this.#wait(index, part)
    while (this.#next < this.#blocks.length && this.#isFree()) this.#beginNext(ready)
  }

  /** Whether another block may begin: there is no call, or it is whole. */
  #isFree(): boolean {
    return this.#current === undefined || this.#current.arguments.isWhole
  }

  #wait(index: number | undefined, part: DeltaEvent): void {
    this.#countChars(part)
    const known = index === undefined ? this.#blocks.at(-1) : this.#waitingCalls.get(index)
    if (known !== undefined && known.index === index) {
      if (grow(known.parts.at(-1), part)) return
      this.#countWaiting(index)
      known.parts.push({ event: part })
      return
    }
    this.#countWaiting(index)
    const block = { index, parts: [{ event: part }] }
    this.#blocks.push(block)
    if (index !== undefined) this.#waitingCalls.set(index, block)
  }

  /** Throws if more waits than is encoded at once. The number of calls is bounded, and the pieces of each are joined. */
  #countWaiting(index: number | undefined): void {
    if (index === undefined && ++this.#waitingParts > MAX_WAITING)
      throw new Error('too many pieces of the answer stand between those of a call')
  }

  /** The bound of an answer's calls holds for what waits of them. */
  #countChars({ content, reasoning, refusal }: DeltaEvent): void {
    this.#waitingChars += (content?.length ?? 0) + (reasoning?.length ?? 0) + (refusal?.length ?? 0)
    if (this.#waitingChars > MAX_WAITING_CHARS)
      throw new Error('too much of the answer stands between the pieces of a call')
  }

  #beginNext(ready: DeltaEvent[]): void {
    const { index, parts } = this.#blocks[this.#next++] as Block
    if (index === undefined) this.#waitingParts -= parts.length
    if (this.#next === this.#blocks.length) {
      this.#blocks = []
      this.#next = 0
      this.#waitingChars = 0
    }
    this.#end()
    if (index !== undefined) {
      this.#waitingCalls.delete(index)
      this.#current = { index, arguments: new JsonEnd() }
    }
    for (const part of parts) this.#add(toEvent(part), ready)
  }

  #end(): void {
    if (this.#current !== undefined) this.#ended.add(this.#current.index)
    this.#current = undefined
  }

  #add(part: DeltaEvent, ready: DeltaEvent[]): void {
    ready.push(part)
    this.#current?.arguments.add(part.toolCalls?.[0]?.function?.arguments ?? '')
  }
}

/** The pieces of a call, or of a text where `index` is undefined. */
interface Block {
  readonly index: number | undefined
  readonly parts: Part[]
}

type GrowingField = 'content' | 'reasoning' | 'arguments'

/** A waiting event, and its text with what later events added to it; absent: nothing. */
interface Part {
  readonly event: DeltaEvent
  grown?: { readonly field: GrowingField; readonly text: KeptText }
}

/**
 * Adds a piece to the text, or to the arguments of the call, that a part has. Returns false if it does not continue them. Without
 * this a provider could have a million pieces wait, which are all encoded at once in the end.
 */
function grow(part: Part | undefined, piece: DeltaEvent): boolean {
  const field = part === undefined ? undefined : findContinued(part.event, piece)
  if (part === undefined || field === undefined) return false
  part.grown ??= { field, text: new KeptText(readField(part.event, field)) }
  part.grown.text.add(readField(piece, field))
  return true
}

/** Returns what of an event a piece continues, and has nothing else; undefined: nothing. */
function findContinued(before: DeltaEvent, piece: DeltaEvent): GrowingField | undefined {
  if (before.index !== piece.index) return undefined
  const { type: _, index: _index, content, reasoning, toolCalls, ...others } = piece
  if (Object.keys(others).length > 0) return undefined
  if (toolCalls === undefined && content === undefined) {
    return reasoning !== undefined && hasOnlyReasoning(before) ? 'reasoning' : undefined
  }
  if (reasoning !== undefined) return undefined
  if (toolCalls === undefined) {
    return before.content !== undefined && before.toolCalls === undefined ? 'content' : undefined
  }
  const [call] = toolCalls
  if (content !== undefined || call === undefined || before.toolCalls?.[0] === undefined) return undefined
  return call.id === undefined && call.function?.name === undefined ? 'arguments' : undefined
}

function hasOnlyReasoning({ type: _, index: _index, reasoning, ...others }: DeltaEvent): boolean {
  return reasoning !== undefined && Object.keys(others).length === 0
}

function readField(event: DeltaEvent, field: GrowingField): string {
  return (field === 'arguments' ? event.toolCalls?.[0]?.function?.arguments : event[field]) ?? ''
}

function toEvent({ event, grown }: Part): DeltaEvent {
  if (grown === undefined) return event
  const text = grown.text.toString()
  if (grown.field !== 'arguments') return { ...event, [grown.field]: text }
  const [call] = event.toolCalls ?? []
  return call === undefined
    ? event
    : { ...event, toolCalls: [{ ...call, function: { ...call.function, arguments: text } }] }
}

/** Returns the event without its calls, if there is something else in it, then each of its calls. */
function splitCalls(event: DeltaEvent): DeltaEvent[] {
  const { toolCalls = [], ...rest } = event
  const { content, reasoning, reasoningDetails, refusal } = rest
  const hasMore =
    toolCalls.length === 0 ||
    [content, reasoning, refusal].some(text => text !== undefined && text !== '') ||
    reasoningDetails !== undefined
  const parts: DeltaEvent[] = hasMore ? [rest] : []
  for (const call of toolCalls) parts.push(toPart(event.index, call))
  return parts
}

function toPart(index: number, call: ToolCallDelta): DeltaEvent {
  return { type: 'delta', index, toolCalls: [call] }
}
