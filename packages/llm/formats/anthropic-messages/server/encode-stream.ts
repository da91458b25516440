import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { SequentialCalls } from '../../shared/adapted/sequential-calls.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { isShownReasoning } from '../../shared/reasoning/sandbox-reasoning.ts'
import { encodeStop } from '../wire/stop-reason.ts'
import { toFittingId } from './encode-reply.ts'
import { encodeUsage } from './encode-usage.ts'

interface Block {
  readonly type: 'text' | 'thinking' | 'tool_use'
  readonly index: number
  readonly call: number | undefined
}

const NO_USAGE: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/**
 * Encodes canonical events as a stream of this format. Pieces of thinking, text and calls become blocks, which begin and
 * end in order; usage and stop reason come in the last but one event.
 */
export class MessageEncoder {
  private readonly envelope: ReplyEnvelope
  private isBegun = false
  private blocks = 0
  /** The block that the next piece of the same kind continues. `call`: the index of a call. */
  private open: Block | undefined
  private stopSequence: string | undefined
  private readonly sequence = new SequentialCalls()

  constructor(envelope: ReplyEnvelope) {
    this.envelope = envelope
  }

  /** Usage, errors and the end of the stream give nothing; see finish. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const out = this.begin()
    this.stopSequence ??= event.stopSequence
    for (const delta of this.sequence.order(event)) this.addDelta(out, delta)
    return out
  }

  finish(reason: FinishReason, usage: Usage): readonly JsonObject[] {
    const out = this.begin()
    for (const delta of this.sequence.finish()) this.addDelta(out, delta)
    this.close(out)
    out.push({
      type: 'message_delta',
      delta: encodeStop(reason, this.stopSequence),
      usage: encodeUsage(usage),
    })
    out.push({ type: 'message_stop' })
    return out
  }

  private begin(): JsonObject[] {
    if (this.isBegun) return []
    this.isBegun = true
    const { id, model } = this.envelope
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: encodeUsage(NO_USAGE),
    }
    return [{ type: 'message_start', message }]
  }

  private addDelta(out: JsonObject[], event: DeltaEvent): void {
    if (event.reasoning !== undefined && event.reasoning !== '') this.addThinking(out, event.reasoning)
    for (const detail of event.reasoningDetails ?? []) this.addDetail(out, detail)
    this.addText(out, event)
    for (const call of event.toolCalls ?? []) this.addCall(out, call)
  }

  private addThinking(out: JsonObject[], thinking: string): void {
    const index = this.continueBlock(out, 'thinking', { thinking: '', signature: '' })
    out.push({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } })
  }

  /** A signature ends its block. Signatures of other models travel in the ids of calls only. */
  private addDetail(out: JsonObject[], detail: ReasoningDetail): void {
    const { type, format, signature, data } = detail
    if (format !== FORMAT || !isShownReasoning(detail)) return
    if (type === 'reasoning.encrypted' && data !== undefined) {
      this.close(out)
      const index = this.blocks++
      out.push({ type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data } })
      out.push({ type: 'content_block_stop', index })
    } else if (signature !== undefined) {
      this.continueBlock(out, 'thinking', { thinking: '', signature: '' })
      this.close(out, signature)
    }
  }

  private addText(out: JsonObject[], { content, refusal }: DeltaEvent): void {
    const text = content ?? refusal
    if (text === undefined || text === '') return
    const index = this.continueBlock(out, 'text', { text: '' })
    out.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
  }

  private addCall(out: JsonObject[], { index: call, id, function: fn }: ToolCallDelta): void {
    if (this.open?.call !== call) {
      const toolUse = { id: toFittingId(id ?? `toolu_${call}`), name: fn?.name ?? '', input: {} }
      this.start(out, 'tool_use', toolUse, call)
    }
    const { index } = this.open as Block
    const json = fn?.arguments
    if (json === undefined || json === '') return
    out.push({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: json },
    })
  }

  /** Returns the index of the open block of this type. If another type is open, it ends and a new block begins. */
  private continueBlock(out: JsonObject[], type: 'text' | 'thinking', empty: JsonObject): number {
    if (this.open?.type === type) return this.open.index
    return this.start(out, type, empty)
  }

  private start(out: JsonObject[], type: Block['type'], content: JsonObject, call?: number): number {
    this.close(out)
    const index = this.blocks++
    this.open = { type, index, call }
    out.push({ type: 'content_block_start', index, content_block: { type, ...content } })
    return index
  }

  private close(out: JsonObject[], signature = FOREIGN_SIGNATURE): void {
    if (this.open === undefined) return
    const { type, index } = this.open
    this.open = undefined
    if (type === 'thinking') {
      out.push({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } })
    }
    out.push({ type: 'content_block_stop', index })
  }
}
