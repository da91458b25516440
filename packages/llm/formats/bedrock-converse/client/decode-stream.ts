import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
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
  text: string
  signature: string
  redacted: Buffer[]
}

interface State {
  readonly blocks: Map<Json | undefined, Block>
  /** Reasoning since the last call. */
  pending: ReasoningDetail[]
  calls: number
  /** The block of the first call of JSON_TOOL. Other answers, and texts behind it, would make its JSON invalid. */
  answer?: Block
  isStopped: boolean
  hasMetadata: boolean
  /** Why the answer failed. It is reported after the usage, since what was generated is charged. */
  failure?: StreamEvent
}

export function openStream(): StreamDecoder {
  const state: State = { blocks: new Map(), pending: [], calls: 0, isStopped: false, hasMetadata: false }
  return { decode: (data, event = '') => decode(state, data, event) }
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

function blockOf(state: State, index: Json | undefined): Block {
  let block = state.blocks.get(index)
  if (block === undefined) {
    block = { index: typeof index === 'number' ? index : 0, text: '', signature: '', redacted: [] }
    state.blocks.set(index, block)
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
  const id = packToolCallId(toText(toolUse.toolUseId) ?? `call_${index}`, state.pending)
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
  if (reasoning !== undefined) return continueReasoning(block, reasoning)
  const input = toText(toObject(delta?.toolUse)?.input)
  if (input === undefined) return NOTHING
  block.hasArguments = true
  if (block === state.answer) return [{ type: 'delta', index: 0, content: input }]
  if (block.call === undefined) return NOTHING
  return [{ type: 'delta', index: 0, toolCalls: [{ index: block.call, function: { arguments: input } }] }]
}

function continueReasoning(block: Block, reasoning: JsonObject): readonly StreamEvent[] {
  block.signature += toText(reasoning.signature) ?? ''
  const redacted = decodeRedacted(reasoning.redactedContent)
  if (redacted.length > 0) block.redacted.push(redacted)
  const text = toText(reasoning.text)
  if (text === undefined) return NOTHING
  block.text += text
  return [{ type: 'delta', index: 0, reasoning: text }]
}

function stopBlock(state: State, body: JsonObject): readonly StreamEvent[] {
  const block = state.blocks.get(body.contentBlockIndex)
  if (block === undefined) return NOTHING
  state.blocks.delete(body.contentBlockIndex)
  // A call without arguments has no delta.
  if (block === state.answer && !block.hasArguments) return [{ type: 'delta', index: 0, content: '{}' }]
  if (block.call !== undefined && !block.hasArguments) {
    return [{ type: 'delta', index: 0, toolCalls: [{ index: block.call, function: { arguments: '{}' } }] }]
  }
  const detail = toReasoningDetail({ ...block, redacted: Buffer.concat(block.redacted) })
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
