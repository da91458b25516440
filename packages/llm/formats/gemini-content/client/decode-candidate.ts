import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { CallBudget } from '../../../reply/call-budget.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import { makeToolCallId } from '../../shared/answers/decode-message.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { toSignature } from '../wire/signatures.ts'
import { toFinish } from './finish-reason.ts'
import { PartialArguments } from './partial-arguments.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What the state of a candidate takes besides what it keeps of the answer. */
const CANDIDATE_BYTES = 400

/** Decodes one candidate over the chunks of its stream. */
export class CandidateDecoder {
  readonly #index: number
  readonly #replyId: string
  readonly #budget: CallBudget
  #callCount = 0
  #detailCount = 0
  /** The call whose arguments are still arriving. */
  #open: { readonly index: number; readonly args: PartialArguments } | undefined

  constructor(index: number, replyId: string, budget: CallBudget) {
    this.#index = index
    this.#replyId = replyId
    this.#budget = budget
  }

  /** The bytes of the arguments that are still arriving. */
  get size(): number {
    return CANDIDATE_BYTES + (this.#open?.args.size ?? 0)
  }

  decode(candidate: JsonObject, events: StreamEvent[]): void {
    const delta = new DeltaBuilder(this.#index)
    for (const part of toObjects(toObject(candidate.content)?.parts)) this.#decodePart(part, delta)
    const hasFinished = toFinish(candidate.finishReason, false) !== undefined
    if (hasFinished) this.#close(delta)
    const finish = toFinish(candidate.finishReason, this.#callCount > 0)
    if (finish !== undefined && finish !== 'failed') delta.value.finishReason = finish
    for (const each of delta.before) events.push(each)
    if (!delta.isEmpty) events.push(delta.value)
    if (finish === 'failed') {
      const detail = [candidate.finishReason, toText(candidate.finishMessage)].filter(Boolean).join(': ')
      const error = { kind: 'unavailable', detail: detail.slice(0, 500) } as const
      events.push({ type: 'error', error, index: this.#index })
    }
  }

  #decodePart(part: JsonObject, delta: DeltaBuilder): void {
    const signature = toText(part.thoughtSignature)
    const call = toObject(part.functionCall)
    if (call !== undefined) {
      this.#decodeCall(call, signature, delta)
      return
    }
    const text = toText(part.text)
    if (text !== undefined && part.thought === true) delta.addReasoning(text)
    else if (text !== undefined) delta.addContent(text)
    // Signatures of the provider's own tools are left out: no caller can use those tools.
    const isText = part.text !== undefined || Object.keys(part).length === 1
    if (signature !== undefined && isText) delta.addDetail(this.#toDetail(signature, undefined))
  }

  #decodeCall(call: JsonObject, signature: string | undefined, delta: DeltaBuilder): void {
    const name = toText(call.name)
    const isOpen = call.willContinue === true
    if (name === undefined) {
      this.#open?.args.add(call.partialArgs)
      if (!isOpen) this.#close(delta)
      return
    }
    // A call that has no end of its own ends where the next one begins.
    this.#close(delta)
    const index = this.#callCount++
    const id = toText(call.id) ?? makeToolCallId(this.#replyId, this.#index, index, name)
    const details = signature === undefined ? [] : [this.#toDetail(signature, id)]
    for (const detail of details) delta.addDetail(detail)
    const isPartial = isOpen || call.partialArgs !== undefined
    delta.addCall({
      index,
      id: packToolCallId(id, this.#budget.take(details.map(withoutIndex))),
      type: 'function',
      function: { name, arguments: isPartial ? '' : toArgumentsText(toObject(call.args) ?? {}) },
    })
    if (!isPartial) return
    this.#open = { index, args: new PartialArguments() }
    this.#open.args.add(call.partialArgs)
    if (!isOpen) this.#close(delta)
  }

  #close(delta: DeltaBuilder): void {
    if (this.#open === undefined) return
    const { index, args } = this.#open
    this.#open = undefined
    delta.addCall({ index, function: { arguments: args.toText() } })
  }

  #toDetail(signature: string, callId: string | undefined): ReasoningDetail {
    return { ...toSignature(signature, callId), index: this.#detailCount++ }
  }
}

/** Clients combine the details of a stream by their index. Within an id it is not needed. */
function withoutIndex({ index: _, ...detail }: ReasoningDetail): ReasoningDetail {
  return detail
}

/**
 * Collects the deltas of one candidate in one chunk. What stands in a delta is read as reasoning, text and calls, in this order, so
 * parts in another order are several deltas.
 */
class DeltaBuilder {
  value: Mutable<DeltaEvent>
  readonly before: DeltaEvent[] = []
  #details: ReasoningDetail[] = []
  #calls: ToolCallDelta[] = []

  constructor(index: number) {
    this.value = { type: 'delta', index }
  }

  get isEmpty(): boolean {
    return Object.keys(this.value).length === 2
  }

  addContent(text: string): void {
    if (this.value.toolCalls !== undefined) this.#beginNext()
    this.value.content = (this.value.content ?? '') + text
  }

  addReasoning(text: string): void {
    if (this.value.content !== undefined || this.value.toolCalls !== undefined) this.#beginNext()
    this.value.reasoning = (this.value.reasoning ?? '') + text
  }

  addDetail(detail: ReasoningDetail): void {
    this.#details.push(detail)
    this.value.reasoningDetails = this.#details
  }

  addCall(call: ToolCallDelta): void {
    this.#calls.push(call)
    this.value.toolCalls = this.#calls
  }

  #beginNext(): void {
    this.before.push(this.value)
    this.value = { type: 'delta', index: this.value.index }
    this.#details = []
    this.#calls = []
  }
}
