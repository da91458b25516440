import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toIndex, toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { StreamDecoder, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamError } from '../../../upstream/upstream-error.ts'
import { withReportedCost } from '../../../usage/reported-cost.ts'
import { decodeErrorBody } from '../../shared/decode-error.ts'
import {
  makeToolCallId,
  readArguments,
  readContent,
  readFinishReason,
  readReasoning,
} from '../../shared/decode-message.ts'
import { decodeUsage } from '../../shared/decode-usage.ts'
import { ReasoningInIds } from '../../shared/reasoning-carrier.ts'
import { DetailSum } from './handed-details.ts'

type Delta = Extract<StreamEvent, { type: 'delta' }>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export function openStream(target: Target): StreamDecoder {
  return new ChunkDecoder(target)
}

/** Reads `chat.completion.chunk` objects, in every variation that providers have of them (wire facts §0.13, §2.2). */
class ChunkDecoder implements StreamDecoder {
  private readonly target: Target
  private readonly choices = new Map<number, ChoiceState>()

  constructor(target: Target) {
    this.target = target
  }

  decode(data: string, event = ''): readonly StreamEvent[] {
    if (data === '[DONE]') return [...this.listLeft(), { type: 'end' }]
    const chunk = parseObject(data)
    if (chunk === undefined) return [{ type: 'error', error: brokenFrame(data) }]
    const counted = decodeUsage(chunk, this.target.provider.openai?.completionExcludesReasoning)
    const usage = withReportedCost(counted, chunk.usage, this.target)
    const error = findError(chunk, event)
    if (error !== undefined) {
      // What was used until then is owed all the same.
      return usage === undefined
        ? [{ type: 'error', error }]
        : [
            { type: 'usage', usage },
            { type: 'error', error },
          ]
    }
    const events: StreamEvent[] = []
    for (const item of toArray(chunk.choices)) {
      const choice = toObject(item)
      if (choice === undefined) continue
      const delta = this.decodeChoice(choice, toText(chunk.id) ?? '')
      if (delta !== undefined) events.push(delta)
    }
    if (usage !== undefined) events.push({ type: 'usage', usage })
    return events
  }

  /** Reasoning that nothing followed, not even a reason to end. */
  private listLeft(): Delta[] {
    return [...this.choices.values()].flatMap(({ index, details }) => {
      const reasoningDetails = details.take()
      return reasoningDetails.length === 0 ? [] : [{ type: 'delta', index, reasoningDetails }]
    })
  }

  /** undefined: the choice says nothing new. */
  private decodeChoice(choice: JsonObject, replyId: string): Delta | undefined {
    const index = toIndex(choice.index) ?? 0
    let state = this.choices.get(index)
    if (state === undefined) {
      state = new ChoiceState(index, replyId)
      this.choices.set(index, state)
    }
    const wire = toObject(choice.delta) ?? {}
    const delta: Mutable<Delta> = { type: 'delta', index }
    let isEmpty = true
    const set = <K extends keyof Delta>(name: K, value: Delta[K] | undefined): void => {
      if (value === undefined) return
      delta[name] = value
      isEmpty = false
    }
    if (wire.role !== undefined && !state.hasRole) {
      state.hasRole = true
      set('role', 'assistant')
    }
    set('content', toText(readContent(wire)))
    set('reasoning', readReasoning(wire))
    set('refusal', toText(wire.refusal))
    state.details.add(wire, this.target.provider.id)
    // The pieces of reasoning are whole when something else begins.
    const isOver =
      delta.content !== undefined || toArray(wire.tool_calls).length > 0 || isText(choice.finish_reason)
    if (isOver) set('reasoningDetails', state.takeDetails())
    set('toolCalls', state.decodeToolCalls(wire))
    set('finishReason', readFinishReason(choice.finish_reason, state.hasToolCalls))
    return isEmpty ? undefined : delta
  }
}

/** What is known of one choice from its former chunks. */
class ChoiceState {
  hasRole = false
  readonly details = new DetailSum()
  private readonly ids = new ReasoningInIds()
  readonly index: number
  private readonly replyId: string
  /** Our number of each call by the provider's own number, and the id that it has there. */
  private readonly byWireIndex = new Map<number, number>()
  private readonly wireIds: (string | undefined)[] = []
  /** What came of calls before their names, by the provider's number: a call without a name cannot be told. */
  private readonly unnamed = new Map<Json | undefined, { id: string | undefined; arguments: string }>()

  constructor(index: number, replyId: string) {
    this.index = index
    this.replyId = replyId
  }

  get hasToolCalls(): boolean {
    return this.wireIds.length > 0
  }

  /** The details that came since; what calls come next carry them too. */
  takeDetails(): readonly ReasoningDetail[] | undefined {
    const details = this.details.take()
    for (const detail of details) this.ids.add(detail)
    return details.length === 0 ? undefined : details
  }

  decodeToolCalls(wire: JsonObject): readonly ToolCallDelta[] | undefined {
    const deltas: ToolCallDelta[] = []
    for (const item of toArray(wire.tool_calls)) {
      const call = toObject(item)
      const delta = call === undefined ? undefined : this.decodeToolCall(call)
      if (delta !== undefined) deltas.push(delta)
    }
    // The shape before tools: one call, without index and id.
    const legacy = toObject(wire.function_call)
    const delta = legacy === undefined ? undefined : this.decodeToolCall({ index: 0, function: legacy })
    if (delta !== undefined) deltas.push(delta)
    return deltas.length === 0 ? undefined : deltas
  }

  /** undefined: of this call there is nothing to tell yet. */
  private decodeToolCall(call: JsonObject): ToolCallDelta | undefined {
    const wireId = toText(call.id)
    const fn = toObject(call.function)
    const name = toText(fn?.name)
    const wireArguments = readArguments(fn?.arguments)
    const known = this.findCall(call.index, wireId, name)
    if (known !== undefined) return { index: known, function: { arguments: wireArguments ?? '' } }
    const held = this.unnamed.get(call.index)
    const id = wireId ?? held?.id
    const begun = (held?.arguments ?? '') + (wireArguments ?? '')
    if (name === undefined) {
      this.unnamed.set(call.index, { id, arguments: begun })
      return undefined
    }
    this.unnamed.delete(call.index)
    // The first fragment has id, type and name; clients that add fragments up must not see them twice.
    const index = this.wireIds.length
    this.wireIds.push(id)
    if (typeof call.index === 'number') this.byWireIndex.set(call.index, index)
    return {
      index,
      id: this.ids.pack(id ?? makeToolCallId(this.replyId, this.index, index, name)),
      type: 'function',
      function: { name, arguments: begun },
    }
  }

  /** Which known call a fragment goes on with; undefined: it begins another. */
  private findCall(
    wireIndex: Json | undefined,
    id: string | undefined,
    name: string | undefined,
  ): number | undefined {
    if (typeof wireIndex === 'number') {
      const known = this.byWireIndex.get(wireIndex)
      // Some number every call 0: then another id tells them apart.
      const isOther = known !== undefined && id !== undefined && this.wireIds[known] !== id
      return isOther && name !== undefined ? undefined : known
    }
    if (id !== undefined) {
      const known = this.wireIds.indexOf(id)
      return known === -1 ? undefined : known
    }
    if (name !== undefined || this.wireIds.length === 0) return undefined
    return this.wireIds.length - 1
  }
}

/** An error in a frame of its own, in a chunk, or in a choice that ends with it. */
function findError(chunk: JsonObject, event: string): UpstreamError | undefined {
  if (chunk.error !== undefined && chunk.error !== null) return decodeErrorBody(undefined, {}, chunk)
  if (event === 'error') return decodeErrorBody(undefined, {}, chunk)
  for (const item of toArray(chunk.choices)) {
    const choice = toObject(item)
    if (choice?.finish_reason !== 'error') continue
    return decodeErrorBody(undefined, {}, { error: choice.error ?? 'the choice ended with an error' })
  }
  return undefined
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function parseObject(data: string): JsonObject | undefined {
  try {
    return toObject(JSON.parse(data) as Json)
  } catch {
    return undefined
  }
}

function brokenFrame(data: string): UpstreamError {
  return { kind: 'interrupted', detail: `a frame of the stream is no JSON object: ${data.slice(0, 200)}` }
}
