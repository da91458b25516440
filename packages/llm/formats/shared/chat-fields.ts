import type { Json, JsonObject } from '../../json/json-value.ts'
import type { ContentPart, Message } from '../../request/message.ts'
import type { ResponseFormat } from '../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../request/tools.ts'
import { hasCacheMark } from './cache-marks.ts'
import { assertCallIdLength, toolNameAt } from './call-fields.ts'
import { FUNCTION_TOOL } from './chat-rules.ts'
import { connects } from './connecting-tools.ts'
import type { HostedAsk } from './hosted-tools.ts'
import {
  invalid,
  isObject,
  listAt,
  objectAt,
  optionalFlag,
  optionalNumber,
  optionalText,
  refuseUnknown,
  textAt,
} from './read-fields.ts'
import { refuseOtherFields } from './tool-fields.ts'

/** Parsers of the fields that the formats in OpenAI's shape share: `native` and `openai-chat`. */

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  // Our answers have an assistant's reasoning in the first two; most clients keep it under the third.
  'reasoning',
  'reasoning_details',
  'reasoning_content',
  'refusal',
])
const PART_TYPES: ReadonlySet<string> = new Set(['text', 'image_url', 'file', 'input_audio', 'refusal'])

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
    if (strict) checkNativeMessage(message, role, path)
    if (isMarked(message)) found.asksForCaching = true
    assertCallIdLength(message.tool_call_id, `${path}.tool_call_id`)
    checkContent(message, role, path, strict, found)
    if (message.tool_calls !== undefined && message.tool_calls !== null)
      checkToolCalls(message.tool_calls, path, found)
  }
  return messages as unknown as readonly Message[]
}

function checkNativeMessage(message: JsonObject, role: string, path: string): void {
  if (!ROLES.has(role)) throw invalid(`${path}.role`, `must be one of ${[...ROLES].join(', ')}.`)
  refuseUnknown(message, MESSAGE_FIELDS, path)
  optionalText(message, 'name', `${path}.name`)
  if (role === 'tool') textAt(message.tool_call_id, `${path}.tool_call_id`)
}

function checkContent(
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
    if (isMarked(part) || (!isKnownPart(part) && hasCacheMark(part))) found.asksForCaching = true
    checkPart(part, at, strict)
  }
}

function isKnownPart({ type }: JsonObject): boolean {
  return typeof type === 'string' && PART_TYPES.has(type)
}

function checkPart(part: JsonObject, path: string, strict: boolean): void {
  const type = textAt(part.type, `${path}.type`)
  if (type === 'text') textAt(part.text, `${path}.text`)
  else if (type === 'image_url') checkImage(part, path, strict)
  else if (type === 'file' || type === 'input_audio') objectAt(part[type], `${path}.${type}`)
  else if (strict && !PART_TYPES.has(type))
    throw invalid(`${path}.type`, `must be one of ${[...PART_TYPES].join(', ')}.`)
}

function checkImage(part: JsonObject, path: string, strict: boolean): void {
  const url = textAt(objectAt(part.image_url, `${path}.image_url`).url, `${path}.image_url.url`)
  if (strict && !/^(https:\/\/|data:image\/)/i.test(url)) {
    throw invalid(`${path}.image_url.url`, 'must be an https URL or a data URL of an image.')
  }
}

function checkToolCalls(value: Json, path: string, found: MessageFindings): void {
  const calls = listAt(value, `${path}.tool_calls`)
  for (let i = 0; i < calls.length; i++) {
    const at = `${path}.tool_calls[${i}]`
    const call = objectAt(calls[i], at)
    if (isMarked(call)) found.asksForCaching = true
    assertCallIdLength(call.id, `${at}.id`)
    if (call.type !== undefined && call.type !== 'function') continue
    const fn = objectAt(call.function, `${at}.function`)
    toolNameAt(fn.name, `${at}.function.name`)
    textAt(fn.arguments, `${at}.function.arguments`)
  }
}

/** Does a tool have a mark that asks for the input up to it to be cached? */
export function isMarkedTool(tool: FunctionTool): boolean {
  return isMarked(tool as unknown as JsonObject) || isMarked(tool.function as unknown as JsonObject)
}

function isMarked({ cache_control: mark }: JsonObject): boolean {
  return mark !== undefined && mark !== null
}

const TOOL_FIELDS: ReadonlySet<string> = new Set(FUNCTION_TOOL.fields?.names)

/** Tools that some provider of OpenAI's shape runs, which reach nothing of the account. None has a price that is known. */
const HOSTED_TYPES =
  /^(?:web_search|web_search_preview|web_search_premium|browser_search|x_search|code_interpreter|image_generation|builtin_function|openrouter:[a-z_]+)$/

/** May the tool be left out, because a provider would run it? */
export function isHostedChatTool(tool: Json | undefined): boolean {
  return isObject(tool) && typeof tool.type === 'string' && HOSTED_TYPES.test(tool.type) && !connects(tool)
}

/** Fields that ask for a search. */
export const HOSTED_FIELDS: readonly string[] = ['web_search_options', 'search_parameters', 'enable_search']

/** What a body asks its provider to run. No provider of OpenAI's shape has a price for it that is known. */
export function listHostedChatTools(body: JsonObject): HostedAsk[] {
  const asks: HostedAsk[] = []
  if (Array.isArray(body.tools)) {
    for (let at = 0; at < body.tools.length; at++) {
      if (isHostedChatTool(body.tools[at])) asks.push({ path: `tools[${at}]`, type: undefined })
    }
  }
  for (const name of HOSTED_FIELDS) {
    const value = body[name]
    if (value !== undefined && value !== null && value !== false) asks.push({ path: name, type: undefined })
  }
  return asks
}

/** The functions among the tools; undefined: there are only tools that a provider runs. */
export function parseTools(value: Json, { strict }: Strictness): readonly FunctionTool[] | undefined {
  const all = listAt(value, 'tools')
  const hasHosted = all.some(isHostedChatTool)
  const tools = hasHosted ? all.filter(tool => !isHostedChatTool(tool)) : all
  if (hasHosted && tools.length === 0) return undefined
  for (let i = 0; i < all.length; i++) {
    if (hasHosted && isHostedChatTool(all[i])) continue
    const tool = objectAt(all[i], `tools[${i}]`)
    const type = textAt(tool.type, `tools[${i}].type`)
    if (type !== 'function') {
      // A tool that the provider runs has a price of its own, which the catalogue does not have.
      throw invalid(
        `tools[${i}].type`,
        'must be function: a tool that takes free text goes by Responses, and none that a provider hosts is offered.',
      )
    }
    refuseOtherFields(tool, TOOL_FIELDS, `tools[${i}]`)
    const fn = objectAt(tool.function, `tools[${i}].function`)
    toolNameAt(fn.name, `tools[${i}].function.name`)
    if (!strict) continue
    if (fn.parameters !== undefined && fn.parameters !== null) {
      objectAt(fn.parameters, `tools[${i}].function.parameters`)
    }
    optionalText(fn, 'description', `tools[${i}].function.description`)
    optionalFlag(fn, 'strict', `tools[${i}].function.strict`)
  }
  return tools as unknown as readonly FunctionTool[]
}

const TOOL_CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none', 'required'])

export function parseToolChoice(choice: Json, { strict }: Strictness): ToolChoice {
  if (TOOL_CHOICES.has(choice)) return choice as ToolChoice
  if (isObject(choice) && choice.type === 'function') {
    textAt(objectAt(choice.function, 'tool_choice.function').name, 'tool_choice.function.name')
    return choice as unknown as ToolChoice
  }
  // Such as allowed_tools.
  if (!strict && isObject(choice)) return choice as unknown as ToolChoice
  throw invalid('tool_choice', 'must be auto, none, required or one function.')
}

export function parseResponseFormat(value: Json, { strict }: Strictness): ResponseFormat {
  const format = objectAt(value, 'response_format')
  const type = textAt(format.type, 'response_format.type')
  if (type === 'json_schema') {
    const schema = objectAt(format.json_schema, 'response_format.json_schema')
    textAt(schema.name, 'response_format.json_schema.name')
    if (schema.schema !== undefined && schema.schema !== null) {
      objectAt(schema.schema, 'response_format.json_schema.schema')
    }
  } else if (strict && type !== 'text' && type !== 'json_object') {
    throw invalid('response_format.type', 'must be text, json_object or json_schema.')
  }
  return format as unknown as ResponseFormat
}

/** A string or up to four, as OpenAI takes them. */
export function parseStop(stop: Json): readonly string[] {
  if (typeof stop === 'string') return [stop]
  const list = listAt(stop, 'stop')
  if (list.length > 4) throw invalid('stop', 'must have at most 4 entries.')
  return list.map((entry, i) => textAt(entry, `stop[${i}]`))
}

export function hasImages(messages: readonly Message[]): boolean {
  return messages.some(
    message =>
      Array.isArray(message.content) &&
      message.content.some((part: ContentPart) => part.type === 'image_url'),
  )
}

const CAP = { min: 1, integer: true }

/** `names`: spellings of one field, of which those that are sent must have the same value. */
export function parseOutputCap(body: JsonObject, names: readonly string[]): number | undefined {
  let cap: number | undefined
  for (const name of names) {
    const value = optionalNumber(body, name, CAP)
    if (value === undefined) continue
    if (cap !== undefined && cap !== value)
      throw invalid(name, 'contradicts another spelling of the output cap.')
    cap = value
  }
  return cap
}
