import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toText } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import { toArgumentsText } from '../reading/arguments-text.ts'

/** Readers of the fields that plain replies and stream deltas share, in the spellings of all providers. */

/** The visible text: a string, or parts of which some are thinking. */
export function readContent(message: JsonObject): string | undefined {
  if (typeof message.content === 'string') return message.content
  if (!Array.isArray(message.content)) return undefined
  return message.content.map(part => (toObject(part)?.type === 'text' ? readPartText(part) : '')).join('')
}

/** The reasoning text, wherever the provider puts it. */
export function readReasoning(message: JsonObject): string | undefined {
  return (
    toText(message.reasoning_content) ??
    toText(message.reasoning) ??
    toText(joinTexts(toArray(message.reasoning_details))) ??
    toText(joinTexts(toArray(message.content).filter(part => toObject(part)?.type === 'thinking')))
  )
}

function joinTexts(parts: readonly Json[]): string {
  return parts.map(readPartText).join('')
}

function readPartText(part: Json): string {
  const object = toObject(part)
  if (object === undefined) return ''
  const text = toText(object.text) ?? toText(object.summary) ?? toText(object.thinking)
  if (text !== undefined) return text
  // Its own parts are plain: no depth to follow.
  return toArray(object.thinking)
    .map(inner => toText(toObject(inner)?.text) ?? '')
    .join('')
}

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
])

/** Longer than any reason. */
const MAX_REASON = 64

/** undefined: the choice has not finished. An unknown reason counts as a stop. */
export function readFinishReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const reason = FINISH_REASONS.get(value.slice(0, MAX_REASON).toLowerCase()) ?? 'stop'
  // Some say `stop` after tool calls, others `tool_calls` after none.
  if (reason === 'stop' && hasToolCalls) return 'tool_calls'
  return reason === 'tool_calls' && !hasToolCalls ? 'stop' : reason
}

/** Arguments are JSON text in the canonical form; some providers send the object, or null for none. */
export function readArguments(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : toArgumentsText(value)
}

/** The longest id of an answer, in characters. Those of providers have up to some hundred. */
const MAX_REPLY_ID = 1_024

/** Returns the id of an answer, of which `makeToolCallId` makes others; empty: it has none that is kept. */
export function toReplyId(value: Json | undefined): string {
  const id = toText(value) ?? ''
  return id.length <= MAX_REPLY_ID ? id : ''
}

/** For a call that came without an id. The same call gets the same id, so that plain and streamed answers agree. */
export function makeToolCallId(replyId: string, choice: number, call: number, name: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([replyId, choice, call, name]))
    .digest('hex')
  return `call_${digest.slice(0, 24)}`
}
