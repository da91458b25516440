import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import type { ChatReply, FinishReason, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import { countOrZero } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'
import { makeToolCallId, readArguments } from '../../shared/answers/decode-message.ts'
import { decodeErrorBody } from '../../shared/errors/decode-error.ts'

/** An answer of `/api/chat` as the canonical reply. An error has no choices. */
export function decodeReply(body: JsonObject): ChatReply {
  const usage = decodeUsage(body)
  const message = toObject(body.message)
  if (message === undefined) return { choices: [], usage }
  const calls = decodeCalls(message, toText(body.created_at) ?? '', 0)
  const decoded: ReplyMessage = { role: 'assistant', content: toText(message.content) ?? null }
  if (calls.length > 0) decoded.tool_calls = calls
  const reasoning = toText(message.thinking)
  if (reasoning !== undefined) decoded.reasoning = reasoning
  const finishReason = readDoneReason(body.done_reason, calls.length > 0)
  return { choices: [{ index: 0, message: decoded, finishReason }], usage }
}

/** Decodes lines: each has the shape of a plain answer and holds its next piece, the last one has the token counts. */
export function openStream(): StreamDecoder {
  return new LineDecoder()
}

class LineDecoder implements StreamDecoder {
  /** The number of calls so far. */
  private calls = 0
  private isStarted = false

  decode(data: string): readonly StreamEvent[] {
    const line = parseObject(data)
    if (line === undefined) {
      const detail = `a line is not a JSON object: ${data.slice(0, 200)}`
      return [{ type: 'error', error: { kind: 'interrupted', detail } }]
    }
    if (line.error !== undefined && line.error !== null)
      return [{ type: 'error', error: decodeErrorBody(undefined, {}, line) }]
    const delta = this.decodeDelta(line)
    if (line.done !== true) return [delta]
    const usage = decodeUsage(line)
    return usage === undefined ? [delta, END] : [delta, { type: 'usage', usage }, END]
  }

  private decodeDelta(line: JsonObject): StreamEvent {
    const message = toObject(line.message) ?? {}
    const first = this.calls
    const toolCalls = decodeCalls(message, toText(line.created_at) ?? '', first)
    this.calls += toolCalls.length
    const content = toText(message.content)
    const reasoning = toText(message.thinking)
    const isFirst = !this.isStarted
    this.isStarted = true
    return {
      type: 'delta',
      index: 0,
      ...(isFirst ? { role: 'assistant' } : {}),
      ...(content === undefined ? {} : { content }),
      ...(reasoning === undefined ? {} : { reasoning }),
      // Calls are not sent in pieces.
      ...(toolCalls.length === 0
        ? {}
        : { toolCalls: toolCalls.map((call, at) => ({ index: first + at, ...call })) }),
      ...(line.done === true ? { finishReason: readDoneReason(line.done_reason, this.calls > 0) } : {}),
    }
  }
}

const END: StreamEvent = { type: 'end' }

/** `first`: the number of earlier calls of the answer. Older servers give calls no ids. */
function decodeCalls(message: JsonObject, createdAt: string, first: number): ToolCall[] {
  return toObjects(message.tool_calls).flatMap((call, at): ToolCall[] => {
    const fn = toObject(call.function)
    const name = toText(fn?.name)
    // A call without a name cannot be carried out.
    if (name === undefined) return []
    const id = toText(call.id) ?? makeToolCallId(createdAt, 0, first + at, name)
    return [{ id, type: 'function', function: { name, arguments: readArguments(fn?.arguments) || '{}' } }]
  })
}

/** Ollama reports `stop` after tool calls too. */
function readDoneReason(value: Json | undefined, hasToolCalls: boolean): FinishReason {
  if (value === 'length') return 'length'
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/** Thinking is part of the output count. */
function decodeUsage(body: JsonObject): Usage | undefined {
  const uncachedInput = countOrZero(body.prompt_eval_count)
  const output = countOrZero(body.eval_count)
  if (uncachedInput + output === 0) return undefined
  return { uncachedInput, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 }
}
