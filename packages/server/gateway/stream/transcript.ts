import type { ToolCall } from '@rideau/llm/request/message'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'

/** Bodies in the log are cut here, with a marker. */
const MAX_BODY_CHARS = 32 * 1024

/** Cuts a body for the log. */
export function cutBody(text: string): string {
  return text.length <= MAX_BODY_CHARS
    ? text
    : `${text.slice(0, MAX_BODY_CHARS)}…[cut: ${text.length} characters]`
}

/** What a stream said, put together for the log of an environment that captures in full. */
export class Transcript {
  #content = ''
  #reasoning = ''
  readonly #toolCalls = new Map<number, ToolCall>()

  add(event: StreamEvent & { type: 'delta' }): void {
    if (this.#content.length < MAX_BODY_CHARS) this.#content += event.content ?? ''
    if (this.#reasoning.length < MAX_BODY_CHARS) this.#reasoning += event.reasoning ?? ''
    for (const delta of event.toolCalls ?? []) {
      const call = this.#toolCalls.get(delta.index) ?? {
        id: '',
        type: 'function',
        function: { name: '', arguments: '' },
      }
      call.id ||= delta.id ?? ''
      call.function.name ||= delta.function?.name ?? ''
      if (call.function.arguments.length < MAX_BODY_CHARS)
        call.function.arguments += delta.function?.arguments ?? ''
      this.#toolCalls.set(delta.index, call)
    }
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
