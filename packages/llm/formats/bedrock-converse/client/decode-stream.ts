import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toItemKey, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import type { StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import {
  decodeRedacted,
  isCallersTool,
  toFinishReason,
  toReasoningDetail,
  toStopSequence,
} from './decode-content.ts'
import { decodeException } from './decode-error.ts'
import { decodeUsage } from './decode-usage.ts'
import { JSON_TOOL } from './json-tool.ts'

const NOTHING: readonly StreamEvent[] = []

/** A content block that has begun. */
interface Block {
  readonly index: number
  /** The number of the call among all calls; undefined: the block is not a call of the caller's tools. */
  call?: number
  hasArguments?: true
  readonly text: KeptText
  readonly signature: KeptText
  /** The bytes of encrypted reasoning as characters: a Buffer for each piece would take half a KiB. */
  readonly redacted: KeptText
}

/** What an open block takes besides its texts, in bytes. */
const BLOCK_BYTES = 400

interface State {
  readonly blocks: Map<number | string | undefined, Block>
  /** The bytes of open blocks, signatures and encrypted reasoning. */
  unsent: number
  /** Reasoning since the last call. */
  pending: ReasoningDetail[]
  calls: number
  readonly budget: CallBudget
  /** The block of the first call of JSON_TOOL. Other answers, and texts behind it, would make its JSON invalid. */
  answer?: Block
  isStopped: boolean
  hasMetadata: boolean
  /** Why the answer failed. It is reported after the usage, since what was generated is charged. */
  failure?: StreamEvent
}

export function openStream(): StreamDecoder {
  const state: State = {
    blocks: new Map(),
    unsent: 0,
    pending: [],
    calls: 0,
    budget: new CallBudget(),
    isStopped: false,
    hasMetadata: false,
  }
  return {
    decode: (data, event = '') => decode(state, data, event),
    get unsent() {
      return state.unsent
    },
  }
}

function decode(state: State, data: string, event: string): readonly StreamEvent[] {
  if (event.startsWith('exception:')) {
    return [{ type: 'error', error: decodeException(event.slice('exception:'.length), data) }]
  }
  const handle = HANDLERS.get(event)
  // Unknown events are ignored.
  if (handle === undefined) return NOTHING
  const body = parseObject(data)
  if (body !== undefined) return handle(state, body)
  const detail = `a frame is not a JSON object: ${data.slice(0, 200)}`
  return [{ type: 'error', error: { kind: 'interrupted', detail } }]
}

type Handler = (state: State, body: JsonObject) => readonly StreamEvent[]

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['messageStart', () => [{ type: 'delta', index: 0, role: 'assistant' }]],
  ['contentBlockStart', startBlock],
  ['contentBlockDelta', continueBlock],
  ['contentBlockStop', stopBlock],
  ['messageStop', stopMessage],
  ['metadata', endStream],
])

function blockOf(state: State, value: Json | undefined): Block {
  const key = toItemKey(value)
  let block = state.blocks.get(key)
  if (block === undefined) {
    const index = typeof key === 'number' ? key : 0
    block = { index, text: new KeptText(), signature: new KeptText(), redacted: new KeptText() }
    state.blocks.set(key, block)
    state.unsent += BLOCK_BYTES
  }
  return block
}

/** Only calls have a start event; text and reasoning begin with their first delta. */
function startBlock(state: State, body: JsonObject): readonly StreamEvent[] {
  const toolUse = toObject(toObject(body.start)?.toolUse)
  if (toolUse === undefined || !isCallersTool(toolUse)) return NOTHING
  const block = blockOf(state, body.contentBlockIndex)
  if (toolUse.name === JSON_TOOL) {
    state.answer ??= block
    return NOTHING
  }
  const name = toText(toolUse.name)
  // A call without a name cannot be carried out.
  if (name === undefined) return NOTHING
  const index = state.calls++
  block.call = index
  // The reasoning before a call travels in its id, so that it comes back with the result.
  const id = packToolCallId(toText(toolUse.toolUseId) ?? `call_${index}`, state.budget.take(state.pending))
  state.pending = []
  const call = {
    index,
    id,
    type: 'function' as const,
    function: { name, arguments: '' },
  }
  return [{ type: 'delta', index: 0, toolCalls: [call] }]
}

function continueBlock(state: State, body: JsonObject): readonly StreamEvent[] {
  const delta = toObject(body.delta)
  const text = toText(delta?.text)
  if (text !== undefined) {
    return state.answer === undefined ? [{ type: 'delta', index: 0, content: text }] : NOTHING
  }
  const block = blockOf(state, body.contentBlockIndex)
  const reasoning = toObject(delta?.reasoningContent)
  if (reasoning !== undefined) return continueReasoning(state, block, reasoning)
  const input = toText(toObject(delta?.toolUse)?.input)
  if (input === undefined) return NOTHING
  block.hasArguments = true
  if (block === state.answer) return [{ type: 'delta', index: 0, content: input }]
  if (block.call === undefined) return NOTHING
  return [{ type: 'delta', index: 0, toolCalls: [{ index: block.call, function: { arguments: input } }] }]
}

function continueReasoning(state: State, block: Block, reasoning: JsonObject): readonly StreamEvent[] {
  const signature = toText(reasoning.signature) ?? ''
  block.signature.add(signature)
  state.unsent += signature.length
  const redacted = decodeRedacted(reasoning.redactedContent).toString('latin1')
  block.redacted.add(redacted)
  state.unsent += redacted.length
  const text = toText(reasoning.text)
  if (text === undefined) return NOTHING
  block.text.add(text)
  return [{ type: 'delta', index: 0, reasoning: text }]
}

function stopBlock(state: State, body: JsonObject): readonly StreamEvent[] {
  const key = toItemKey(body.contentBlockIndex)
  const block = state.blocks.get(key)
  if (block === undefined) return NOTHING
  state.blocks.delete(key)
  // A call without arguments has no delta.
  if (block === state.answer && !block.hasArguments) return [{ type: 'delta', index: 0, content: '{}' }]
  if (block.call !== undefined && !block.hasArguments) {
    return [{ type: 'delta', index: 0, toolCalls: [{ index: block.call, function: { arguments: '{}' } }] }]
  }
  const detail = toReasoningDetail({
    text: block.text.toString(),
    signature: block.signature.toString(),
    redacted: Buffer.from(block.redacted.toString(), 'latin1'),
    index: block.index,
  })
  if (detail === undefined) return NOTHING
  state.pending.push(detail)
  return [{ type: 'delta', index: 0, reasoningDetails: [detail] }]
}

function stopMessage(state: State, body: JsonObject): readonly StreamEvent[] {
  state.isStopped = true
  const finishReason = toFinishReason(body.stopReason, state.calls > 0)
  if (finishReason === 'broken') {
    const detail = `the model's output is broken: ${String(body.stopReason)}`
    state.failure = { type: 'error', error: { kind: 'unavailable', detail } }
    return state.hasMetadata ? [state.failure] : NOTHING
  }
  const events: StreamEvent[] = [
    { type: 'delta', index: 0, finishReason, ...toStopSequence(body.stopReason) },
  ]
  if (state.hasMetadata) events.push({ type: 'end' })
  return events
}

/** Usage comes after messageStop, so the stream ends only when both have come. */
function endStream(state: State, body: JsonObject): readonly StreamEvent[] {
  state.hasMetadata = true
  const events: StreamEvent[] = []
  const usage = decodeUsage(body.usage)
  if (usage !== undefined) events.push({ type: 'usage', usage })
  if (state.failure !== undefined) events.push(state.failure)
  else if (state.isStopped) events.push({ type: 'end' })
  return events
}
