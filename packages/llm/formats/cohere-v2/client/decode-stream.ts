import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toItemKey, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import type { StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import { decodeErrorBody } from '../../shared/errors/decode-error.ts'
import { decodeUsage, readFinishReason } from './decode-parts.ts'

const NOTHING: readonly StreamEvent[] = []

interface State {
  /** Each call by the provider's number: the gateway's number, and the part of its arguments that is buffered. */
  readonly calls: Map<number | string | undefined, Call>
  /** The number of calls that have begun. */
  count: number
}

interface Call {
  readonly index: number
  /** The beginning of the arguments while it may still turn out to be `null`, which stands for no arguments. */
  held: string
  hasArguments: boolean
}

export function openStream(): StreamDecoder {
  const state: State = { calls: new Map(), count: 0 }
  return { decode: data => decode(state, data) }
}

function decode(state: State, data: string): readonly StreamEvent[] {
  // `message-end` has said everything before it.
  if (data === '[DONE]') return NOTHING
  const body = parseObject(data)
  if (body === undefined) {
    const detail = `a frame is not a JSON object: ${data.slice(0, 200)}`
    return [{ type: 'error', error: { kind: 'interrupted', detail } }]
  }
  if (typeof body.type === 'string') return HANDLERS.get(body.type)?.(state, body) ?? NOTHING
  // An error has no type.
  return [{ type: 'error', error: decodeErrorBody(undefined, {}, body) }]
}

type Handler = (state: State, body: JsonObject) => readonly StreamEvent[]

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['message-start', () => [{ type: 'delta', index: 0, role: 'assistant' }]],
  ['content-start', readContent],
  ['content-delta', readContent],
  ['tool-plan-delta', readPlan],
  ['tool-call-start', startCall],
  ['tool-call-delta', continueCall],
  ['tool-call-end', endCall],
  ['message-end', endMessage],
])

function messageOf(body: JsonObject): JsonObject {
  return toObject(toObject(body.delta)?.message) ?? {}
}

function readContent(_: State, body: JsonObject): readonly StreamEvent[] {
  const part = toObject(messageOf(body).content)
  const content = toText(part?.text)
  if (content !== undefined) return [{ type: 'delta', index: 0, content }]
  const reasoning = toText(part?.thinking)
  return reasoning === undefined ? NOTHING : [{ type: 'delta', index: 0, reasoning }]
}

function readPlan(_: State, body: JsonObject): readonly StreamEvent[] {
  const reasoning = toText(messageOf(body).tool_plan)
  return reasoning === undefined ? NOTHING : [{ type: 'delta', index: 0, reasoning }]
}

function startCall(state: State, body: JsonObject): readonly StreamEvent[] {
  const call = toObject(messageOf(body).tool_calls)
  const fn = toObject(call?.function)
  const name = toText(fn?.name)
  // No caller can carry out a call without a name.
  if (name === undefined) return NOTHING
  const index = state.count++
  state.calls.set(toItemKey(body.index), { index, held: '', hasArguments: false })
  const id = toText(call?.id) ?? `call_${index}`
  const start = {
    index,
    id,
    type: 'function' as const,
    function: { name, arguments: '' },
  }
  return [{ type: 'delta', index: 0, toolCalls: [start] }, ...addArguments(state, body.index, fn?.arguments)]
}

function continueCall(state: State, body: JsonObject): readonly StreamEvent[] {
  const fn = toObject(toObject(messageOf(body).tool_calls)?.function)
  return addArguments(state, body.index, fn?.arguments)
}

function addArguments(state: State, key: Json | undefined, value: Json | undefined): readonly StreamEvent[] {
  const call = state.calls.get(toItemKey(key))
  const text = toText(value)
  if (call === undefined || text === undefined) return NOTHING
  const all = call.held + text
  if (!call.hasArguments && 'null'.startsWith(all)) {
    call.held = all
    return NOTHING
  }
  call.held = ''
  call.hasArguments = true
  return [{ type: 'delta', index: 0, toolCalls: [{ index: call.index, function: { arguments: all } }] }]
}

/** A call without arguments has none, or the text `null`. */
function endCall(state: State, body: JsonObject): readonly StreamEvent[] {
  const call = state.calls.get(toItemKey(body.index))
  if (call === undefined || call.hasArguments) return NOTHING
  call.hasArguments = true
  return [{ type: 'delta', index: 0, toolCalls: [{ index: call.index, function: { arguments: '{}' } }] }]
}

function endMessage(state: State, body: JsonObject): readonly StreamEvent[] {
  const delta = toObject(body.delta)
  const usage = decodeUsage(delta?.usage)
  const counted: StreamEvent[] = usage === undefined ? [] : [{ type: 'usage', usage }]
  const finishReason = readFinishReason(delta?.finish_reason, state.calls.size > 0)
  if (finishReason === 'failed') {
    const detail = toText(delta?.error) ?? `the answer ended with ${String(delta?.finish_reason)}`
    // What was used until then is billed anyway.
    return [...counted, { type: 'error', error: { kind: 'unavailable', detail } }]
  }
  return [{ type: 'delta', index: 0, finishReason }, ...counted, { type: 'end' }]
}
