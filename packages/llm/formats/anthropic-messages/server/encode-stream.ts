import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { isDirect } from '../../shared/reasoning-carrier.ts'
import { toStopReason } from '../wire/stop-reason.ts'
import { toFittingId } from './encode-reply.ts'
import { encodeUsage } from './encode-usage.ts'

type Delta = Extract<StreamEvent, { type: 'delta' }>

const NO_USAGE: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/**
 * Canonical events as the events of this format's stream. Pieces of thinking, text and calls become blocks, which begin
 * and end in order; usage and the reason to stop come in the end.
 */
export class MessageEncoder {
  private readonly envelope: ReplyEnvelope
  private isBegun = false
  private blocks = 0
  /** The block that text or thinking goes on in. */
  private open: { readonly type: 'text' | 'thinking'; readonly index: number } | undefined
  /** The block of each call. They stay open: pieces of parallel calls may alternate. */
  private readonly calls = new Map<number, number>()

  constructor(envelope: ReplyEnvelope) {
    this.envelope = envelope
  }

  /** Errors and the end are the caller's. */
  encode(event: StreamEvent): readonly JsonObject[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const out = this.begin()
    if (event.reasoning !== undefined && event.reasoning !== '') this.think(out, event.reasoning)
    for (const detail of event.reasoningDetails ?? []) this.sign(out, detail)
    this.say(out, event)
    for (const call of event.toolCalls ?? []) this.call(out, call)
    return out
  }

  finish(reason: FinishReason, usage: Usage): readonly JsonObject[] {
    const out = this.begin()
    this.close(out)
    for (const index of this.calls.values()) out.push({ type: 'content_block_stop', index })
    out.push({
      type: 'message_delta',
      delta: { stop_reason: toStopReason(reason), stop_sequence: null },
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

  private think(out: JsonObject[], thinking: string): void {
    const index = this.goOn(out, 'thinking', { thinking: '', signature: '' })
    out.push({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } })
  }

  /** A signature ends its block; one of another format travels elsewhere. */
  private sign(out: JsonObject[], detail: ReasoningDetail): void {
    const { type, format, signature, data } = detail
    if (format !== FORMAT || !isDirect(detail)) return
    if (type === 'reasoning.encrypted' && data !== undefined) {
      this.close(out)
      const index = this.blocks++
      out.push({ type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data } })
      out.push({ type: 'content_block_stop', index })
    } else if (signature !== undefined) {
      this.goOn(out, 'thinking', { thinking: '', signature: '' })
      this.close(out, signature)
    }
  }

  private say(out: JsonObject[], { content, refusal }: Delta): void {
    const text = content ?? refusal
    if (text === undefined || text === '') return
    const index = this.goOn(out, 'text', { text: '' })
    out.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
  }

  private call(out: JsonObject[], { index: call, id, function: fn }: ToolCallDelta): void {
    let index = this.calls.get(call)
    if (index === undefined) {
      this.close(out)
      index = this.blocks++
      this.calls.set(call, index)
      out.push({
        type: 'content_block_start',
        index,
        content_block: {
          type: 'tool_use',
          id: toFittingId(id ?? `toolu_${call}`),
          name: fn?.name ?? '',
          input: {},
        },
      })
    }
    const json = fn?.arguments
    if (json === undefined || json === '') return
    out.push({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: json },
    })
  }

  /** The index of the open block of this type; another one ends for it. */
  private goOn(out: JsonObject[], type: 'text' | 'thinking', empty: JsonObject): number {
    if (this.open?.type === type) return this.open.index
    this.close(out)
    const index = this.blocks++
    this.open = { type, index }
    out.push({ type: 'content_block_start', index, content_block: { type, ...empty } })
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
