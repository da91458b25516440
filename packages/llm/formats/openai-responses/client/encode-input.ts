import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { toResultContent } from '../../shared/errors/error-content.ts'
import {
  identify,
  isOf,
  listReasoningDetails,
  shortToolCallId,
  unpackToolCallId,
} from '../../shared/reasoning/reasoning-carrier.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { REASONING_FORMAT } from '../wire/decode-items.ts'

interface InputOptions {
  /** The model knows the role `developer`. */
  readonly developerRole: boolean
  /** The id of the provider whose encrypted reasoning of earlier turns is sent. undefined: none is. */
  readonly reasoningOf: string | undefined
}

/** Messages as input items. The reasoning, the text and each call of a message are items of their own. */
export function encodeInput(messages: readonly Message[], options: InputOptions): JsonObject[] {
  return messages.flatMap(message => encodeMessage(message, options))
}

function encodeMessage(message: Message, { developerRole, reasoningOf }: InputOptions): JsonObject[] {
  const { role, content } = message
  if (role === 'tool') {
    const callId = shortToolCallId(String(message.tool_call_id ?? ''))
    return [{ type: 'function_call_output', call_id: callId, output: encodeOutput(toResultContent(message)) }]
  }
  if (role === 'assistant') return encodeAssistant(message, reasoningOf)
  const known = role === 'developer' && !developerRole ? 'system' : role
  return [{ type: 'message', role: known, content: encodeContent(content) }]
}

/**
 * Reasoning precedes the item that it led to: the call whose id carries it, or the whole message if it belongs to the text
 * or to the first call.
 */
function encodeAssistant(message: Message, reasoningOf: string | undefined): JsonObject[] {
  const calls = listFunctionCalls(message).map(call => ({
    call,
    details: filterOwnDetails(unpackToolCallId(call.id).details, reasoningOf),
  }))
  const later = new Set(calls.slice(1).flatMap(({ details }) => details.map(identify)))
  const own = reasoningOf === undefined ? [] : listReasoningDetails(message, REASONING_FORMAT, reasoningOf)
  const first = own.filter(detail => !later.has(identify(detail)))
  const items = encodeReasoning(first)
  const content = encodeAnswer(message)
  if (content.length > 0) items.push({ type: 'message', role: 'assistant', content })
  for (const [at, { call, details }] of calls.entries()) {
    if (at > 0) items.push(...encodeReasoning(details))
    items.push(encodeCall(call))
  }
  return items
}

function filterOwnDetails(
  details: readonly ReasoningDetail[],
  providerId: string | undefined,
): readonly ReasoningDetail[] {
  if (providerId === undefined) return []
  return details.filter(detail => detail.format === REASONING_FORMAT && isOf(detail, providerId))
}

/** Details of one id become one item. Without state at the provider, only encrypted reasoning can come back. */
function encodeReasoning(details: readonly ReasoningDetail[]): JsonObject[] {
  const items: JsonObject[] = []
  let summary: JsonObject[] = []
  for (const detail of details) {
    if (detail.type === 'reasoning.summary') {
      summary.push({ type: 'summary_text', text: detail.summary ?? '' })
    } else if (detail.type === 'reasoning.encrypted' && detail.data !== undefined) {
      const own = detail.id === undefined ? {} : { id: detail.id }
      items.push({ type: 'reasoning', ...own, summary, encrypted_content: detail.data })
      summary = []
    }
  }
  return items
}

function encodeCall({ id, function: fn }: ToolCall): JsonObject {
  return { type: 'function_call', call_id: shortToolCallId(id), name: fn.name, arguments: fn.arguments }
}

/** The text and the refusals of an assistant as parts. */
function encodeAnswer({ content, refusal }: Message): JsonObject[] {
  const parts: JsonObject[] = []
  const add = (type: 'text' | 'refusal', value: unknown): void => {
    if (typeof value !== 'string' || value === '') return
    parts.push(
      type === 'text'
        ? { type: 'output_text', text: value, annotations: [] }
        : { type: 'refusal', refusal: value },
    )
  }
  if (typeof content === 'string') add('text', content)
  else for (const part of content ?? []) add(part.type === 'refusal' ? 'refusal' : 'text', part[part.type])
  add('refusal', refusal)
  return parts
}

function encodeContent(content: Message['content']): Json {
  if (typeof content === 'string') return content
  return (content ?? []).map(encodePart)
}

/** A tool's result: a string if it is text only, because some providers take no parts here. */
function encodeOutput(content: Message['content']): Json {
  if (typeof content === 'string') return content
  const parts = content ?? []
  if (parts.every(({ type }) => type === 'text')) return parts.map(({ text }) => String(text)).join('')
  return parts.map(encodePart)
}

function encodePart(part: ContentPart): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (part.type === 'image_url') {
    const image = toObject(part.image_url)
    return { type: 'input_image', image_url: image?.url, detail: toText(image?.detail) ?? 'auto' }
  }
  // `file_data`, `file_id` and `filename` have the same names here.
  if (part.type === 'file') return { type: 'input_file', ...toObject(part.file) }
  // The provider judges unknown parts.
  return part
}
