import type { JsonObject } from '../../json/json-value.ts'
import type { ContentPart, Message } from '../../request/message.ts'
import type { ResponseFormat } from '../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../request/tools.ts'
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

/** The parts of a chat request that the native and the compat surface share: OpenAI's chat-completions shapes. */

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  // What our own answers say of an assistant's reasoning, and the name that most clients keep it under.
  'reasoning',
  'reasoning_details',
  'reasoning_content',
  'refusal',
])
const PART_TYPES: ReadonlySet<string> = new Set(['text', 'image_url', 'file', 'input_audio', 'refusal'])

/** How strict: the native surface refuses what it does not know, the compat surface passes it on. */
export interface Strictness {
  readonly strict: boolean
}

/** Checks messages in place: they keep the shape that they came in. */
export function parseMessages(body: JsonObject, { strict }: Strictness): readonly Message[] {
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (let i = 0; i < messages.length; i++) {
    const path = `messages[${i}]`
    const message = objectAt(messages[i], path)
    const role = textAt(message.role, `${path}.role`)
    if (strict) checkNativeMessage(message, role, path)
    checkContent(message, role, path, strict)
    if (message.tool_calls !== undefined && message.tool_calls !== null)
      checkToolCalls(message.tool_calls, path)
  }
  return messages as unknown as readonly Message[]
}

function checkNativeMessage(message: JsonObject, role: string, path: string): void {
  if (!ROLES.has(role)) throw invalid(`${path}.role`, `must be one of ${[...ROLES].join(', ')}.`)
  refuseUnknown(message, MESSAGE_FIELDS, path)
  optionalText(message, 'name', `${path}.name`)
  if (role === 'tool') textAt(message.tool_call_id, `${path}.tool_call_id`)
}

function checkContent(message: JsonObject, role: string, path: string, strict: boolean): void {
  const { content } = message
  if (typeof content === 'string') return
  if (content === undefined || content === null) {
    if (role === 'assistant' || !strict) return
    throw invalid(`${path}.content`, 'must be a string or a list of parts.')
  }
  if (!Array.isArray(content)) throw invalid(`${path}.content`, 'must be a string or a list of parts.')
  for (let i = 0; i < content.length; i++)
    checkPart(content[i] as JsonObject, `${path}.content[${i}]`, strict)
}

function checkPart(value: JsonObject, path: string, strict: boolean): void {
  const part = objectAt(value, path)
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

function checkToolCalls(value: JsonObject[string], path: string): void {
  const calls = listAt(value, `${path}.tool_calls`)
  for (let i = 0; i < calls.length; i++) {
    const at = `${path}.tool_calls[${i}]`
    const call = objectAt(calls[i], at)
    if (call.type !== undefined && call.type !== 'function') continue
    const fn = objectAt(call.function, `${at}.function`)
    textAt(fn.name, `${at}.function.name`)
    textAt(fn.arguments, `${at}.function.arguments`)
  }
}

/** Besides OpenAI's own two: what brokers of Anthropic's models take, and what older clients write twice. */
const FUNCTION_TOOL: ReadonlySet<string> = new Set([
  ...['type', 'function', 'cache_control', 'eager_input_streaming', 'defer_loading', 'input_examples'],
  ...['name', 'description', 'parameters', 'strict'],
])

export function parseTools(body: JsonObject, { strict }: Strictness): readonly FunctionTool[] | undefined {
  if (body.tools === undefined || body.tools === null) return undefined
  const tools = listAt(body.tools, 'tools')
  for (let i = 0; i < tools.length; i++) {
    const tool = objectAt(tools[i], `tools[${i}]`)
    const type = textAt(tool.type, `tools[${i}].type`)
    if (type !== 'function') {
      // A tool that the provider runs itself has a price of its own, which nothing here knows.
      throw invalid(
        `tools[${i}].type`,
        'must be function: a tool that takes free text goes by Responses, and none that a provider hosts is offered.',
      )
    }
    refuseOtherFields(tool, FUNCTION_TOOL, `tools[${i}]`)
    const fn = objectAt(tool.function, `tools[${i}].function`)
    textAt(fn.name, `tools[${i}].function.name`)
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

export function parseToolChoice(body: JsonObject, { strict }: Strictness): ToolChoice | undefined {
  const choice = body.tool_choice
  if (choice === undefined || choice === null) return undefined
  if (TOOL_CHOICES.has(choice)) return choice as ToolChoice
  if (isObject(choice) && choice.type === 'function') {
    textAt(objectAt(choice.function, 'tool_choice.function').name, 'tool_choice.function.name')
    return choice as unknown as ToolChoice
  }
  // The compat surface passes on forms that we do not know, such as allowed_tools.
  if (!strict && isObject(choice)) return choice as unknown as ToolChoice
  throw invalid('tool_choice', 'must be auto, none, required or one function.')
}

export function parseResponseFormat(body: JsonObject, { strict }: Strictness): ResponseFormat | undefined {
  const value = body.response_format
  if (value === undefined || value === null) return undefined
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
export function parseStop(body: JsonObject): readonly string[] | undefined {
  const { stop } = body
  if (stop === undefined || stop === null) return undefined
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

/** The three spellings of one field; who sends two must mean the same. */
export function parseOutputCap(body: JsonObject): number | undefined {
  let cap: number | undefined
  for (const name of ['max_output_tokens', 'max_completion_tokens', 'max_tokens']) {
    const value = optionalNumber(body, name, CAP)
    if (value === undefined) continue
    if (cap !== undefined && cap !== value)
      throw invalid(name, 'contradicts another spelling of the output cap.')
    cap = value
  }
  return cap
}
