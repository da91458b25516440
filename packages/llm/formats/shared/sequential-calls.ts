import { JsonEnd } from '../../json/json-end.ts'
import type { StreamEvent, ToolCallDelta } from '../../stream/stream-event.ts'

type Delta = Extract<StreamEvent, { type: 'delta' }>

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
  #waiting: Delta[] = []

  /** Returns what can be encoded now, each with one call at most. */
  order(event: Delta): readonly Delta[] {
    if (event.toolCalls === undefined && this.#mayPass()) return [event]
    const ready: Delta[] = []
    for (const part of splitCalls(event)) this.#accept(part, ready)
    return ready
  }

  /** Returns what waited. Called at the end of the answer. */
  finish(): readonly Delta[] {
    const ready: Delta[] = []
    while (this.#waiting.length > 0) this.#next(ready)
    return ready
  }

  /** A text may follow a call that is whole. */
  #mayPass(): boolean {
    if (this.#current === undefined) return true
    if (!this.#current.arguments.isWhole) return false
    this.#end()
    return true
  }

  #accept(part: Delta, ready: Delta[]): void {
    const call = part.toolCalls?.[0]
    if (call === undefined) {
      if (this.#mayPass()) ready.push(part)
      else this.#waiting.push(part)
      return
    }
    // What follows whole arguments is white space.
    if (this.#ended.has(call.index)) return
    if (this.#current !== undefined && this.#current.index !== call.index) {
      if (!this.#current.arguments.isWhole) return void this.#waiting.push(part)
      this.#end()
    }
    this.#current ??= { index: call.index, arguments: new JsonEnd() }
    ready.push(part)
    this.#current.arguments.add(call.function?.arguments ?? '')
    if (this.#waiting.length > 0 && this.#current.arguments.isWhole) this.#next(ready)
  }

  #end(): void {
    if (this.#current !== undefined) this.#ended.add(this.#current.index)
    this.#current = undefined
  }

  /** Ends the current call and accepts what waited for that. */
  #next(ready: Delta[]): void {
    this.#end()
    const waiting = this.#waiting
    this.#waiting = []
    for (const part of waiting) this.#accept(part, ready)
  }
}

/** Returns the event without its calls, if there is something else in it, then each of its calls. */
function splitCalls(event: Delta): Delta[] {
  const { toolCalls = [], ...rest } = event
  const { content, reasoning, reasoningDetails, refusal } = rest
  const hasMore =
    toolCalls.length === 0 ||
    [content, reasoning, refusal].some(text => text !== undefined && text !== '') ||
    reasoningDetails !== undefined
  const parts: Delta[] = hasMore ? [rest] : []
  for (const call of toolCalls) parts.push(toPart(event.index, call))
  return parts
}

function toPart(index: number, call: ToolCallDelta): Delta {
  return { type: 'delta', index, toolCalls: [call] }
}
