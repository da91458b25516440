import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toIndex, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamDecoder, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamError } from '../../../upstream/upstream-error.ts'
import { withReportedCost } from '../../../usage/reported-cost.ts'
import {
  readContent,
  readFinishReason,
  readReasoning,
  toReplyId,
} from '../../shared/answers/decode-message.ts'
import { decodeUsage } from '../../shared/answers/decode-usage.ts'
import { decodeErrorBody } from '../../shared/errors/decode-error.ts'
import { set } from '../../shared/reading/read-fields.ts'
import { ReasoningInIds } from '../../shared/reasoning/reasoning-carrier.ts'
import { CallSequence } from './call-sequence.ts'
import { DetailSum } from './handed-details.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export function openStream(target: Target): StreamDecoder {
  return new ChunkDecoder(target)
}

/** Decodes `chat.completion.chunk` objects in the variations of all providers. */
class ChunkDecoder implements StreamDecoder {
  private readonly target: Target
  private readonly budget = new CallBudget()
  private readonly choices = new Map<number, ChoiceState>()

  constructor(target: Target) {
    this.target = target
  }

  get unsent(): number {
    let sum = 0
    for (const choice of this.choices.values()) sum += choice.unsent
    return sum
  }

  decode(data: string, event = ''): readonly StreamEvent[] {
    if (data === '[DONE]') return [...this.listLeft(), { type: 'end' }]
    const chunk = parseObject(data)
    if (chunk === undefined) return [{ type: 'error', error: brokenFrame(data) }]
    const counted = decodeUsage(chunk, this.target.provider.openai?.completionExcludesReasoning)
    const usage = withReportedCost(counted, chunk.usage, this.target)
    const events: StreamEvent[] = []
    let failed: JsonObject | undefined
    for (const item of toArray(chunk.choices)) {
      const choice = toObject(item)
      if (choice === undefined) continue
      if (hasFailed(choice)) failed ??= choice
      const delta = this.decodeChoice(choice, toReplyId(chunk.id))
      if (delta !== undefined) events.push(delta)
    }
    // Usage until an error is billed.
    if (usage !== undefined) events.push({ type: 'usage', usage })
    const error = findError(chunk, event, failed)
    if (error !== undefined) {
      events.push(
        failed === undefined
          ? { type: 'error', error }
          : { type: 'error', error, index: toIndex(failed.index) ?? 0 },
      )
    }
    return events
  }

  /** Reasoning after which the stream ended without a finish reason. */
  private listLeft(): DeltaEvent[] {
    return [...this.choices.values()].flatMap(({ index, details }) => {
      const reasoningDetails = details.take()
      return reasoningDetails.length === 0 ? [] : [{ type: 'delta', index, reasoningDetails }]
    })
  }

  /** undefined: the choice has nothing new. */
  private decodeChoice(choice: JsonObject, replyId: string): DeltaEvent | undefined {
    const index = toIndex(choice.index) ?? 0
    let state = this.choices.get(index)
    if (state === undefined) {
      state = new ChoiceState(index, replyId, this.budget)
      this.choices.set(index, state)
    }
    return state.decode(choice, toObject(choice.delta) ?? {}, this.target.provider.id)
  }
}

/** What the state of a choice takes besides what it keeps of the answer. */
const CHOICE_BYTES = 400

/** The state of one choice between chunks. */
class ChoiceState {
  private hasRole = false
  readonly details = new DetailSum()
  private readonly ids = new ReasoningInIds()
  readonly index: number
  private readonly replyId: string
  private readonly budget: CallBudget
  /** undefined until the first piece of a call: most streams have none, and thousands may be open. */
  private calls: CallSequence | undefined

  constructor(index: number, replyId: string, budget: CallBudget) {
    this.index = index
    this.replyId = replyId
    this.budget = budget
  }

  get unsent(): number {
    return CHOICE_BYTES + this.details.size + (this.calls?.unsent ?? 0)
  }

  /** undefined: the choice has nothing new. */
  decode(choice: JsonObject, wire: JsonObject, providerId: string): DeltaEvent | undefined {
    const delta: Mutable<DeltaEvent> = { type: 'delta', index: this.index }
    if (wire.role !== undefined && !this.hasRole) {
      this.hasRole = true
      delta.role = 'assistant'
    }
    set(delta, 'content', toText(readContent(wire)))
    set(delta, 'reasoning', readReasoning(wire))
    set(delta, 'refusal', toText(wire.refusal))
    this.details.add(wire, providerId)
    // Reasoning is complete when content, a call or the end follows.
    const isOver =
      delta.content !== undefined || toArray(wire.tool_calls).length > 0 || isText(choice.finish_reason)
    if (isOver) set(delta, 'reasoningDetails', this.takeDetails())
    set(delta, 'toolCalls', this.decodeToolCalls(wire))
    if (!hasFailed(choice)) {
      set(delta, 'finishReason', readFinishReason(choice.finish_reason, this.calls?.hasAny === true))
    }
    return isEmpty(delta) ? undefined : delta
  }

  /** The details since the last call of this method. The ids of the calls that follow carry them too. */
  private takeDetails(): readonly ReasoningDetail[] | undefined {
    const details = this.details.take()
    for (const detail of details) this.ids.add(detail)
    return details.length === 0 ? undefined : details
  }

  private decodeToolCalls(wire: JsonObject): readonly ToolCallDelta[] | undefined {
    const items = toArray(wire.tool_calls)
    // The predecessor of `tool_calls`: one call, without index and id.
    const legacy = toObject(wire.function_call)
    if (items.length === 0 && legacy === undefined) return undefined
    this.calls ??= new CallSequence(this.replyId, this.index, this.ids, this.budget)
    const deltas = this.calls.decode(
      legacy === undefined ? items : [...items, { index: 0, function: legacy }],
    )
    return deltas.length === 0 ? undefined : deltas
  }
}

/** Returns true if the delta has only its type and index. */
function isEmpty(delta: DeltaEvent): boolean {
  for (const name in delta) if (name !== 'type' && name !== 'index') return false
  return true
}

/** Finds an error in an event of its own, in a chunk, or in a choice that ended with it. */
function findError(
  chunk: JsonObject,
  event: string,
  failed: JsonObject | undefined,
): UpstreamError | undefined {
  if (chunk.error !== undefined && chunk.error !== null) return decodeErrorBody(undefined, {}, chunk)
  if (event === 'error') return decodeErrorBody(undefined, {}, chunk)
  if (failed === undefined) return undefined
  return decodeErrorBody(undefined, {}, { error: failed.error ?? 'the choice ended with an error' })
}

function hasFailed(choice: JsonObject): boolean {
  return choice.finish_reason === 'error'
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function brokenFrame(data: string): UpstreamError {
  return { kind: 'interrupted', detail: `a frame of the stream is not a JSON object: ${data.slice(0, 200)}` }
}
