import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { ToolCallDelta } from '../../../stream/stream-event.ts'

/** Puts calls together for formats that have no pieces of them; pieces of parallel calls may alternate. */
export class CallCollector {
  readonly #calls = new Map<number, ToolCall>()

  add({ index, id, function: fn }: ToolCallDelta): void {
    const known = this.#calls.get(index)
    if (known !== undefined) known.function.arguments += fn?.arguments ?? ''
    else {
      const { name = '', arguments: text = '' } = fn ?? {}
      this.#calls.set(index, { id: id ?? '', type: 'function', function: { name, arguments: text } })
    }
  }

  /** The calls, in the order in which they began, as `listWholeCalls` returns them. */
  take(reason: FinishReason): readonly ToolCall[] {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    return listWholeCalls(calls, reason)
  }
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
