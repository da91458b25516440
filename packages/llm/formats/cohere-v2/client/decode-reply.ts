import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { decodeUsage, readFinishReason } from './decode-parts.ts'

/**
 * An answer of `/v2/chat` as the canonical reply. The plan that comes with calls of tools is reasoning; citations have no
 * place in the canonical reply.
 */
export function decodeReply(body: JsonObject): ChatReply {
  const usage = decodeUsage(body.usage)
  const message = toObject(body.message)
  if (message === undefined) return { choices: [], usage }
  const parts = toObjects(message.content)
  const calls = toObjects(message.tool_calls).flatMap(decodeCall)
  const content = parts.map(({ text }) => toText(text) ?? '').join('')
  const decoded: ReplyMessage = { role: 'assistant', content: toText(content) ?? null }
  if (calls.length > 0) decoded.tool_calls = calls
  const thoughts = parts.map(({ thinking }) => toText(thinking) ?? '').join('')
  const reasoning = toText(thoughts + (toText(message.tool_plan) ?? ''))
  if (reasoning !== undefined) decoded.reasoning = reasoning
  const finishReason = readFinishReason(body.finish_reason, calls.length > 0)
  if (finishReason === 'failed') return { choices: [], usage }
  return { choices: [{ index: 0, message: decoded, finishReason }], usage }
}

function decodeCall(call: JsonObject, index: number): ToolCall[] {
  const fn = toObject(call.function)
  const name = toText(fn?.name)
  // No caller can carry out a call without a name.
  if (name === undefined) return []
  const id = toText(call.id) ?? `call_${index}`
  return [{ id, type: 'function', function: { name, arguments: readArguments(fn?.arguments) } }]
}

/** A tool without parameters is called with the text `null`. */
function readArguments(value: Json | undefined): string {
  const text = typeof value === 'string' ? value : toArgumentsText(value ?? {})
  return text === '' || text === 'null' ? '{}' : text
}
