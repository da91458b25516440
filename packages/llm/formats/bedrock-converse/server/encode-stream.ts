import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { SequentialCalls } from '../../shared/adapted/sequential-calls.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { isShownReasoning } from '../../shared/reasoning/sandbox-reasoning.ts'
import { encodeRedacted, toStopReason } from './encode-reply.ts'
import { encodeUsage } from './encode-usage.ts'

/** One event of a Converse stream: its name and its payload. */
export interface ConverseEvent {
  readonly type: string
  readonly body: JsonObject
}

/**
 * Encodes canonical events as a Converse stream. Text, reasoning and calls become blocks, which begin and end in order; only
 * calls have a start event.
 */
export class ConverseEncoder {
  private isBegun = false
  private blocks = 0
  /** `kind` is the index of a call. */
  private open: { readonly kind: 'text' | 'reasoning' | number; readonly index: number } | undefined
  private stopSequence: string | undefined
  private readonly sequence = new SequentialCalls()

  /** Usage, errors and the end of the stream give nothing; see finish. */
  encode(event: StreamEvent): readonly ConverseEvent[] {
    if (event.type !== 'delta' || event.index !== 0) return []
    const out = this.begin()
    this.stopSequence ??= event.stopSequence
    for (const delta of this.sequence.order(event)) this.add(out, delta)
    return out
  }

  private add(out: ConverseEvent[], event: DeltaEvent): void {
    const { reasoning, reasoningDetails, toolCalls } = event
    if (reasoning !== undefined && reasoning !== '') this.addReasoning(out, { text: reasoning })
    if (reasoningDetails !== undefined) for (const detail of reasoningDetails) this.addDetail(out, detail)
    const text = event.content ?? event.refusal
    if (text !== undefined && text !== '') this.addDelta(out, 'text', { text })
    if (toolCalls !== undefined) for (const call of toolCalls) this.addCall(out, call)
  }

  finish(reason: FinishReason, usage: Usage, latencyMs: number): readonly ConverseEvent[] {
    const out = this.begin()
    for (const delta of this.sequence.finish()) this.add(out, delta)
    this.close(out)
    out.push({ type: 'messageStop', body: { stopReason: toStopReason(reason, this.stopSequence) } })
    out.push(toMetadata(usage, latencyMs))
    return out
  }

  private begin(): ConverseEvent[] {
    if (this.isBegun) return []
    this.isBegun = true
    return [{ type: 'messageStart', body: { role: 'assistant' } }]
  }

  private addReasoning(out: ConverseEvent[], reasoningContent: JsonObject): void {
    this.addDelta(out, 'reasoning', { reasoningContent })
  }

  /** A signature ends its block. Signatures of other models travel in the ids of calls only. */
  private addDetail(out: ConverseEvent[], detail: ReasoningDetail): void {
    const { type, format, signature, data } = detail
    if (format !== FORMAT || !isShownReasoning(detail)) return
    if (type === 'reasoning.encrypted' && data !== undefined) {
      this.close(out)
      this.addReasoning(out, { redactedContent: encodeRedacted(data) })
      this.close(out, null)
    } else if (signature !== undefined) {
      this.addReasoning(out, { signature })
      this.close(out, null)
    }
  }

  private addCall(out: ConverseEvent[], { index: call, id, function: fn }: ToolCallDelta): void {
    let index = this.open?.kind === call ? this.open.index : undefined
    if (index === undefined) {
      this.close(out)
      index = this.blocks++
      this.open = { kind: call, index }
      const toolUse = { toolUseId: id ?? `tooluse_${call}`, name: fn?.name ?? '' }
      out.push({ type: 'contentBlockStart', body: { contentBlockIndex: index, start: { toolUse } } })
    }
    const input = fn?.arguments
    if (input === undefined || input === '') return
    this.continue(out, index, { toolUse: { input } })
  }

  /** Adds a delta to the open block of this kind. If another kind is open, it ends and a new block begins. */
  private addDelta(out: ConverseEvent[], kind: 'text' | 'reasoning', delta: JsonObject): void {
    if (this.open?.kind !== kind) {
      this.close(out)
      this.open = { kind, index: this.blocks++ }
    }
    this.continue(out, this.open.index, delta)
  }

  /** `signature`: of a reasoning block; null: it has its signature already. */
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

/** Returns the last event of a stream. */
export function toMetadata(usage: Usage, latencyMs: number): ConverseEvent {
  return { type: 'metadata', body: { usage: encodeUsage(usage), metrics: { latencyMs } } }
}
