import type { ToolCall } from '@rideau/llm/request/message'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'
import { takeChars } from '../../core/records/cut-text.ts'
import { MAX_BODY_CHARS } from '../../core/records/record-line.ts'

/** Characters of a tool call besides its texts. */
const CALL_CHARS = 100

/** Collects a streamed answer for the log of an environment that captures in full, up to what the log keeps. */
export class Transcript {
  #content = ''
  #reasoning = ''
  readonly #toolCalls = new Map<number, ToolCall>()
  /** Characters that are still kept. One more than the log keeps, so that the log marks the text as cut. */
  #room = MAX_BODY_CHARS + 1

  add(event: StreamEvent & { type: 'delta' }): void {
    if (this.#room <= 0) return
    this.#content += this.#take(event.content)
    this.#reasoning += this.#take(event.reasoning)
    for (const delta of event.toolCalls ?? []) {
      if (this.#room <= 0) return
      const call = this.#toolCalls.get(delta.index) ?? this.#openCall(delta.index)
      if (call.id === '') call.id = this.#take(delta.id)
      if (call.function.name === '') call.function.name = this.#take(delta.function?.name)
      call.function.arguments += this.#take(delta.function?.arguments)
    }
  }

  #openCall(index: number): ToolCall {
    const call: ToolCall = { id: '', type: 'function', function: { name: '', arguments: '' } }
    this.#toolCalls.set(index, call)
    this.#room -= CALL_CHARS
    return call
  }

  #take(text: string | null | undefined): string {
    if (text === undefined || text === null) return ''
    const taken = takeChars(text, Math.max(0, this.#room))
    this.#room -= text.length
    return taken
  }

  toJson(finishReason: string | null): string {
    return JSON.stringify({
      role: 'assistant',
      content: this.#content === '' ? null : this.#content,
      ...(this.#reasoning === '' ? {} : { reasoning: this.#reasoning }),
      ...(this.#toolCalls.size === 0 ? {} : { tool_calls: [...this.#toolCalls.values()] }),
      finish_reason: finishReason,
    })
  }
}
