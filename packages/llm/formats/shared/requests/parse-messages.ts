import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Message } from '../../../request/message.ts'
import { hasCacheMark } from '../claude/cache-marks.ts'
import { assertNativePart, isNativePart } from '../reading/native-parts.ts'
import { assertKnownFields, invalid, listAt, objectAt, optionalText, textAt } from '../reading/read-fields.ts'
import { assertCallIdLength, toolCallIdAt, toolNameAt } from '../tools/call-fields.ts'

/** The parser of the messages that the formats in OpenAI's shape share: `native` and `openai-chat`. */

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
/** The gateway's answers have an assistant's reasoning in the first two; most clients keep it under the third. */
const REASONING_FIELDS = ['reasoning', 'reasoning_details', 'reasoning_content'] as const
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'refusal'],
  ...REASONING_FIELDS,
])
/** Pieces of a streamed call have an `index`, which clients leave in the whole call. */
const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'function', 'index', 'cache_control'])
const CALLED_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments'])

export interface Strictness {
  /** Values and names that the gateway does not know are refused. Else they pass on to a provider of the same shape. */
  readonly strict: boolean
}

/** What the parser of messages finds besides them. */
export interface MessageFindings {
  /** A mark that asks for the input up to it to be cached stands on a message, a part or a tool call. */
  asksForCaching: boolean
}

/** Checks messages in place: they keep the shape that they came in. Adds to `found`. */
export function parseMessages(
  value: Json | undefined,
  { strict }: Strictness,
  found: MessageFindings,
): readonly Message[] {
  const messages = listAt(value, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (let i = 0; i < messages.length; i++) {
    const path = `messages[${i}]`
    const message = objectAt(messages[i], path)
    const role = textAt(message.role, `${path}.role`)
    if (strict) assertNativeMessage(message, role, path)
    if (isMarked(message)) found.asksForCaching = true
    assertContent(message, role, path, strict, found)
    assertCallIdLength(optionalText(message, 'tool_call_id', `${path}.tool_call_id`), `${path}.tool_call_id`)
    if (message.tool_calls !== undefined && message.tool_calls !== null)
      assertToolCalls(message.tool_calls, path, strict, found)
  }
  return messages as unknown as readonly Message[]
}

function assertNativeMessage(message: JsonObject, role: string, path: string): void {
  if (!ROLES.has(role)) throw invalid(`${path}.role`, `must be one of ${[...ROLES].join(', ')}.`)
  assertKnownFields(message, MESSAGE_FIELDS, path)
  optionalText(message, 'name', `${path}.name`)
  optionalText(message, 'refusal', `${path}.refusal`)
  optionalText(message, 'reasoning', `${path}.reasoning`)
  optionalText(message, 'reasoning_content', `${path}.reasoning_content`)
  const { reasoning_details: details } = message
  if (details !== undefined && details !== null) {
    const list = listAt(details, `${path}.reasoning_details`)
    for (let i = 0; i < list.length; i++) objectAt(list[i], `${path}.reasoning_details[${i}]`)
  }
  if (role === 'tool') textAt(message.tool_call_id, `${path}.tool_call_id`)
}

function assertContent(
  message: JsonObject,
  role: string,
  path: string,
  strict: boolean,
  found: MessageFindings,
): void {
  const { content } = message
  if (typeof content === 'string') return
  if (content === undefined || content === null) {
    if (role === 'assistant' || !strict) return
    throw invalid(`${path}.content`, 'must be a string or a list of parts.')
  }
  if (!Array.isArray(content)) throw invalid(`${path}.content`, 'must be a string or a list of parts.')
  for (let i = 0; i < content.length; i++) {
    const at = `${path}.content[${i}]`
    const part = objectAt(content[i], at)
    const type = textAt(part.type, `${at}.type`)
    if (isMarked(part) || (!isNativePart(type) && hasCacheMark(part))) found.asksForCaching = true
    if (strict) assertNativePart(part, type, at)
    else assertPart(part, type, at)
  }
}

/** Checks what encoders rely on. */
function assertPart(part: JsonObject, type: string, path: string): void {
  if (type === 'text') textAt(part.text, `${path}.text`)
  else if (type === 'image_url')
    textAt(objectAt(part.image_url, `${path}.image_url`).url, `${path}.image_url.url`)
  else if (type === 'file' || type === 'input_audio') objectAt(part[type], `${path}.${type}`)
}

/**
 * Checks that every call has an id and a function, except calls of tools that take free text, which OpenAI's own format has too
 * (function-calls.ts).
 */
function assertToolCalls(value: Json, path: string, strict: boolean, found: MessageFindings): void {
  const calls = listAt(value, `${path}.tool_calls`)
  for (let i = 0; i < calls.length; i++) {
    const at = `${path}.tool_calls[${i}]`
    const call = objectAt(calls[i], at)
    if (isMarked(call)) found.asksForCaching = true
    toolCallIdAt(call.id, `${at}.id`)
    const type = optionalText(call, 'type', `${at}.type`)
    if (strict) assertNativeCall(call, type, at)
    else if (type === 'custom') {
      const tool = objectAt(call.custom, `${at}.custom`)
      toolNameAt(tool.name, `${at}.custom.name`)
      textAt(tool.input, `${at}.custom.input`)
      continue
    }
    const fn = objectAt(call.function, `${at}.function`)
    if (strict) assertKnownFields(fn, CALLED_FIELDS, `${at}.function`)
    toolNameAt(fn.name, `${at}.function.name`)
    textAt(fn.arguments, `${at}.function.arguments`)
  }
}

function assertNativeCall(call: JsonObject, type: string | undefined, path: string): void {
  if (type !== undefined && type !== 'function') throw invalid(`${path}.type`, 'must be function.')
  assertKnownFields(call, CALL_FIELDS, path)
}

/** Returns true if the value has a mark that asks for the input up to it to be cached. */
export function isMarked({ cache_control: mark }: JsonObject): boolean {
  return mark !== undefined && mark !== null
}
