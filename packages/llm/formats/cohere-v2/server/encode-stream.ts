import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { SequentialCalls } from '../../shared/adapted/sequential-calls.ts'
import { encodeUsage, toFinishReason } from './encode-parts.ts'

type Kind = 'text' | 'thinking'

/**
 * Encodes canonical events as the events of this format's stream. Thinking and text become parts of the content, calls have
 * numbers of their own. Parts and calls begin and end in order.
 */
export class ChatEventEncoder {
  private readonly envelope: ReplyEnvelope
  private isBegun = false
  private parts = 0
  private hasArguments = false
  private open: { readonly kind: Kind | 'call'; readonly index: number } | undefined
  private readonly sequence = new SequentialCalls()

  constructor(envelope: ReplyEnvelope) {
    this.envelope = envelope
  }

  /** Errors and the end are the caller's. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const out = this.begin()
    for (const delta of this.sequence.order(event)) this.add(out, delta)
    return out
  }

  finish(reason: FinishReason, usage: Usage): readonly JsonObject[] {
    const out = this.begin()
    for (const delta of this.sequence.finish()) this.add(out, delta)
    this.close(out)
    out.push({
      type: 'message-end',
      delta: { finish_reason: toFinishReason(reason), usage: encodeUsage(usage) },
    })
    return out
  }

  /** The end of an answer that could not be finished. A call stays open: closed, it would look like a whole one. */
  fail(error: JsonObject): readonly JsonObject[] {
    const out = this.begin()
    if (this.open?.kind !== 'call') this.close(out)
    out.push({ type: 'message-end', delta: { ...error, finish_reason: 'ERROR' } })
    return out
  }

  private begin(): JsonObject[] {
    if (this.isBegun) return []
    this.isBegun = true
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    return [{ id: this.envelope.id, type: 'message-start', delta: { message } }]
  }

  private add(out: JsonObject[], event: DeltaEvent): void {
    this.addText(out, 'thinking', event.reasoning)
    this.addText(out, 'text', event.content ?? event.refusal)
    if (event.toolCalls !== undefined) for (const call of event.toolCalls) this.addCall(out, call)
  }

  private addText(out: JsonObject[], kind: Kind, piece: string | undefined): void {
    if (piece === undefined || piece === '') return
    let open = this.open
    if (open?.kind !== kind) {
      this.close(out)
      open = { kind, index: this.parts++ }
      this.open = open
      const content = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '' }
      out.push({ type: 'content-start', index: open.index, delta: { message: { content } } })
    }
    const content = kind === 'text' ? { text: piece } : { thinking: piece }
    out.push({ type: 'content-delta', index: open.index, delta: { message: { content } } })
  }

  private addCall(out: JsonObject[], { index, id, function: fn }: ToolCallDelta): void {
    if (this.open?.kind !== 'call' || this.open.index !== index) {
      this.close(out)
      this.open = { kind: 'call', index }
      this.hasArguments = false
      const started = {
        id: id ?? `call_${index}`,
        type: 'function',
        function: { name: fn?.name ?? '', arguments: '' },
      }
      out.push({ type: 'tool-call-start', index, delta: { message: { tool_calls: started } } })
    }
    const text = fn?.arguments
    if (text === undefined || text === '') return
    this.addArguments(out, index, text)
  }

  private addArguments(out: JsonObject[], index: number, text: string): void {
    this.hasArguments = true
    const delta = { message: { tool_calls: { function: { arguments: text } } } }
    out.push({ type: 'tool-call-delta', index, delta })
  }

  private close(out: JsonObject[]): void {
    if (this.open === undefined) return
    const { kind, index } = this.open
    this.open = undefined
    // Clients parse the arguments of a call, and an empty text is no JSON.
    if (kind === 'call' && !this.hasArguments) this.addArguments(out, index, '{}')
    out.push({ type: kind === 'call' ? 'tool-call-end' : 'content-end', index })
  }
}
