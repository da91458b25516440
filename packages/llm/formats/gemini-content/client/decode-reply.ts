import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { PartOrder } from '../../shared/answers/part-order.ts'
import { ChunkDecoder } from './decode-stream.ts'

/**
 * A GenerateContentResponse as the canonical reply. It is decoded like the only chunk of a stream, so that plain and
 * streamed answers agree. A candidate that failed is left out.
 */
export function decodeReply(body: JsonObject, target: Target): ChatReply {
  const choices = new Map<number, Choice>()
  let usage: Usage | undefined
  for (const event of new ChunkDecoder(target).decodeChunk(body)) {
    if (event.type === 'usage') usage = event.usage
    else if (event.type === 'error') {
      if (event.index === undefined) choices.clear()
      else choices.delete(event.index)
    }
    if (event.type !== 'delta') continue
    const choice = choices.get(event.index) ?? new Choice()
    choices.set(event.index, choice)
    choice.addText(event.reasoning ?? '', event.content ?? '')
    choice.details.push(...(event.reasoningDetails ?? []))
    for (const { index, id, function: fn } of event.toolCalls ?? []) choice.addCall(index, id, fn)
    choice.finishReason = event.finishReason ?? choice.finishReason
  }
  return {
    choices: [...choices].map(([index, choice]) => {
      const { parts } = choice.order
      const finishReason = choice.finishReason ?? (choice.calls.length > 0 ? 'tool_calls' : 'stop')
      return { index, message: choice.toMessage(), finishReason, ...(parts === undefined ? {} : { parts }) }
    }),
    usage,
  }
}

class Choice {
  content = ''
  reasoning = ''
  finishReason: FinishReason | undefined
  readonly details: ReasoningDetail[] = []
  readonly calls: ToolCall[] = []
  readonly order = new PartOrder()

  addText(reasoning: string, content: string): void {
    this.reasoning += reasoning
    this.content += content
    this.order.addReasoning(reasoning, undefined)
    this.order.addText(content)
  }

  addCall(index: number, id: string | undefined, fn: { name?: string; arguments?: string } = {}): void {
    const known = this.calls[index]
    if (known !== undefined) known.function.arguments += fn.arguments ?? ''
    else {
      const { name = '', arguments: text = '' } = fn
      this.order.addCall(index)
      this.calls[index] = { id: id ?? '', type: 'function', function: { name, arguments: text } }
    }
  }

  toMessage(): ReplyMessage {
    return {
      role: 'assistant',
      content: this.content === '' ? null : this.content,
      ...(this.calls.length === 0 ? {} : { tool_calls: this.calls }),
      ...(this.reasoning === '' ? {} : { reasoning: this.reasoning }),
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
    }
  }
}
