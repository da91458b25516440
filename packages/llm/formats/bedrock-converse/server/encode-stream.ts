import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'
import { encodeRedacted, toStopReason } from './encode-reply.ts'
import { encodeUsage } from './encode-usage.ts'

/** One event of a Converse stream: its name and its payload. */
export interface ConverseEvent {
  readonly type: string
  readonly body: JsonObject
}

/**
 * Canonical events as those of a Converse stream. Text and reasoning become blocks, of which only calls have a start;
 * calls stay open to the end, since pieces of parallel ones may alternate.
 */
export class ConverseEncoder {
  private isBegun = false
  private blocks = 0
  private open: { readonly kind: 'text' | 'reasoning'; readonly index: number } | undefined
  private readonly calls = new Map<number, number>()

  /** Errors and the end are the caller's. */
  encode(event: StreamEvent): readonly ConverseEvent[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const out = this.begin()
    const { reasoning, reasoningDetails, toolCalls } = event
    if (reasoning !== undefined && reasoning !== '') this.reason(out, { text: reasoning })
    if (reasoningDetails !== undefined) for (const detail of reasoningDetails) this.sign(out, detail)
    const text = event.content ?? event.refusal
    if (text !== undefined && text !== '') this.go(out, 'text', { text })
    if (toolCalls !== undefined) for (const call of toolCalls) this.call(out, call)
    return out
  }

  finish(reason: FinishReason, usage: Usage, latencyMs: number): readonly ConverseEvent[] {
    const out = this.begin()
    this.close(out)
    for (const index of this.calls.values()) this.stop(out, index)
    out.push({ type: 'messageStop', body: { stopReason: toStopReason(reason) } })
    out.push(toMetadata(usage, latencyMs))
    return out
  }

  private begin(): ConverseEvent[] {
    if (this.isBegun) return []
    this.isBegun = true
    return [{ type: 'messageStart', body: { role: 'assistant' } }]
  }

  private reason(out: ConverseEvent[], reasoningContent: JsonObject): void {
    this.go(out, 'reasoning', { reasoningContent })
  }

  /** A signature ends its block; one of another format travels elsewhere. */
  private sign(out: ConverseEvent[], { type, format, signature, data }: ReasoningDetail): void {
    if (format !== FORMAT) return
    if (type === 'reasoning.encrypted' && data !== undefined) {
      this.close(out)
      this.reason(out, { redactedContent: encodeRedacted(data) })
      this.close(out, null)
    } else if (signature !== undefined) {
      this.reason(out, { signature })
      this.close(out, null)
    }
  }

  private call(out: ConverseEvent[], { index: call, id, function: fn }: ToolCallDelta): void {
    let index = this.calls.get(call)
    if (index === undefined) {
      this.close(out)
      index = this.blocks++
      this.calls.set(call, index)
      const toolUse = { toolUseId: id ?? `tooluse_${call}`, name: fn?.name ?? '' }
      out.push({ type: 'contentBlockStart', body: { contentBlockIndex: index, start: { toolUse } } })
    }
    const input = fn?.arguments
    if (input === undefined || input === '') return
    this.continue(out, index, { toolUse: { input } })
  }

  /** Goes on in the open block of this kind; another one ends for it. */
  private go(out: ConverseEvent[], kind: 'text' | 'reasoning', delta: JsonObject): void {
    if (this.open?.kind !== kind) {
      this.close(out)
      this.open = { kind, index: this.blocks++ }
    }
    this.continue(out, this.open.index, delta)
  }

  /** `signature` null: the block has what it needs. */
  private close(out: ConverseEvent[], signature: string | null = FOREIGN_SIGNATURE): void {
    if (this.open === undefined) return
    const { kind, index } = this.open
    this.open = undefined
    if (kind === 'reasoning' && signature !== null) {
      this.continue(out, index, { reasoningContent: { signature } })
    }
    this.stop(out, index)
  }

  private continue(out: ConverseEvent[], contentBlockIndex: number, delta: JsonObject): void {
    out.push({ type: 'contentBlockDelta', body: { contentBlockIndex, delta } })
  }

  private stop(out: ConverseEvent[], contentBlockIndex: number): void {
    out.push({ type: 'contentBlockStop', body: { contentBlockIndex } })
  }
}

/** The last event of a stream. */
export function toMetadata(usage: Usage, latencyMs: number): ConverseEvent {
  return { type: 'metadata', body: { usage: encodeUsage(usage), metrics: { latencyMs } } }
}
