import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toItemKey, toObject, toText } from '../../../json/json-value.ts'
import { type CallBudget, MAX_CALLS } from '../../../reply/call-budget.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import type { ToolCallDelta } from '../../../stream/stream-event.ts'
import { makeToolCallId, readArguments } from '../../shared/answers/decode-message.ts'
import type { ReasoningInIds } from '../../shared/reasoning/reasoning-carrier.ts'

/** A call whose name has not come yet. */
interface UnnamedCall {
  id: string | undefined
  readonly arguments: KeptText
}

/** Decodes the pieces of the tool calls of one choice of a stream, in the variations of all providers. */
export class CallSequence {
  private readonly replyId: string
  private readonly choiceIndex: number
  private readonly ids: ReasoningInIds
  private readonly budget: CallBudget
  /** The gateway's index of each call by the provider's index. */
  private readonly byWireIndex = new Map<number, number>()
  private readonly wireIds: (string | undefined)[] = []
  /** The gateway's index of the first call of each id. */
  private readonly byWireId = new Map<string, number>()
  /** Pieces of calls whose name has not come yet, by the provider's index: a call is sent from its name on. */
  private readonly unnamed = new Map<number | string | undefined, UnnamedCall>()

  /** The characters of calls whose name had not come. */
  unsent = 0

  /** `ids` adds reasoning to the ids of calls that were made after it. */
  constructor(replyId: string, choiceIndex: number, ids: ReasoningInIds, budget: CallBudget) {
    this.replyId = replyId
    this.choiceIndex = choiceIndex
    this.ids = ids
    this.budget = budget
  }

  /** Returns true if a call has begun. */
  get hasAny(): boolean {
    return this.wireIds.length > 0
  }

  decode(items: readonly Json[]): readonly ToolCallDelta[] {
    const deltas: ToolCallDelta[] = []
    for (const item of items) {
      const call = toObject(item)
      const delta = call === undefined ? undefined : this.decodePiece(call)
      if (delta !== undefined) deltas.push(delta)
    }
    return deltas
  }

  /** undefined: the name of the call has not come yet. */
  private decodePiece(call: JsonObject): ToolCallDelta | undefined {
    const wireId = toText(call.id)
    const fn = toObject(call.function)
    const name = toText(fn?.name)
    const wireArguments = readArguments(fn?.arguments)
    const known = this.findCall(call.index, wireId, name)
    if (known !== undefined) return { index: known, function: { arguments: wireArguments ?? '' } }
    const key = toItemKey(call.index)
    const held = this.unnamed.get(key)
    if (name === undefined) {
      this.keep(held ?? this.openUnnamed(key), wireId, wireArguments)
      return undefined
    }
    const id = wireId ?? held?.id
    const begun = (held?.arguments.toString() ?? '') + (wireArguments ?? '')
    this.unnamed.delete(key)
    // Only the first piece has id, type and name: clients join the pieces of a call.
    const index = this.wireIds.length
    this.wireIds.push(id)
    if (id !== undefined && !this.byWireId.has(id)) this.byWireId.set(id, index)
    if (typeof call.index === 'number') this.byWireIndex.set(call.index, index)
    return {
      index,
      id: this.ids.pack(id ?? makeToolCallId(this.replyId, this.choiceIndex, index, name), this.budget),
      type: 'function',
      function: { name, arguments: begun },
    }
  }

  private openUnnamed(key: number | string | undefined): UnnamedCall {
    if (this.unnamed.size === MAX_CALLS) throw new Error(`the answer has more than ${MAX_CALLS} tool calls`)
    const call = { id: undefined, arguments: new KeptText() }
    this.unnamed.set(key, call)
    return call
  }

  private keep(call: UnnamedCall, id: string | undefined, text = ''): void {
    call.id = id ?? call.id
    call.arguments.add(text)
    this.unsent += text.length + (id?.length ?? 0)
  }

  /** The known call that a piece continues; undefined: it begins a new one. */
  private findCall(
    wireIndex: Json | undefined,
    id: string | undefined,
    name: string | undefined,
  ): number | undefined {
    if (typeof wireIndex === 'number') {
      const known = this.byWireIndex.get(wireIndex)
      // Some providers give every call the index 0: another id begins a new call.
      const isOther = known !== undefined && id !== undefined && this.wireIds[known] !== id
      return isOther && name !== undefined ? undefined : known
    }
    if (id !== undefined) return this.byWireId.get(id)
    if (name !== undefined || this.wireIds.length === 0) return undefined
    return this.wireIds.length - 1
  }
}
