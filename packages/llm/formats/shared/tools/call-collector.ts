import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import type { ToolCallDelta } from '../../../stream/stream-event.ts'

interface CollectedCall {
  readonly id: string
  readonly name: string
  readonly arguments: KeptText
}

/** Puts calls together for formats that have no pieces of them; pieces of parallel calls may alternate. */
export class CallCollector {
  readonly #calls = new Map<number, CollectedCall>()

  add({ index, id = '', function: fn }: ToolCallDelta): void {
    const { name = '', arguments: text = '' } = fn ?? {}
    const known = this.#calls.get(index)
    if (known === undefined) this.#calls.set(index, { id, name, arguments: new KeptText(text) })
    else known.arguments.add(text)
  }

  /** The calls, in the order in which they began, as `listWholeCalls` returns them. */
  take(reason: FinishReason): readonly ToolCall[] {
    const calls = [...this.#calls.values()].map(toCall)
    this.#calls.clear()
    return listWholeCalls(calls, reason)
  }
}

function toCall({ id, name, arguments: text }: CollectedCall): ToolCall {
  return { id, type: 'function', function: { name, arguments: text.toString() } }
}

/**
 * Returns the calls for a format that has their arguments as an object. Where the answer was cut a call may have been too: without
 * its arguments it would be another call, so it is left out.
 */
export function listWholeCalls(calls: readonly ToolCall[], reason: FinishReason): readonly ToolCall[] {
  return reason === 'length' ? calls.filter(isWhole) : calls
}

function isWhole({ function: fn }: ToolCall): boolean {
  try {
    JSON.parse(fn.arguments)
    return true
  } catch {
    return false
  }
}
