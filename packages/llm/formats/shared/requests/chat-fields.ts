import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import {
  assertKnownFields,
  invalid,
  listAt,
  objectAt,
  optionalFlag,
  optionalNumber,
  optionalText,
  textAt,
} from '../reading/read-fields.ts'
import { toolNameAt } from '../tools/call-fields.ts'
import { connects } from '../tools/connecting-tools.ts'
import type { HostedToolRequest } from '../tools/hosted-tools.ts'
import { assertToolFields } from '../tools/tool-fields.ts'
import { FUNCTION, FUNCTION_TOOL, NAMED_SCHEMA } from './chat-rules.ts'
import { isMarked, type Strictness } from './parse-messages.ts'

/** Parsers of the fields that the formats in OpenAI's shape share: `native` and `openai-chat`. */

/** Returns true if a tool has a mark that asks for the input up to it to be cached. */
export function isMarkedTool(tool: FunctionTool): boolean {
  return isMarked(tool as unknown as JsonObject) || isMarked(tool.function as unknown as JsonObject)
}

const TOOL_FIELDS: ReadonlySet<string> = new Set(FUNCTION_TOOL.fields?.names)
export const FUNCTION_FIELDS: ReadonlySet<string> = new Set(FUNCTION.fields?.names)

/** Tools that some provider of OpenAI's shape runs, which reach nothing of the account. None has a price that is known. */
const HOSTED_TYPES =
  /^(?:web_search|web_search_preview|web_search_premium|browser_search|x_search|code_interpreter|image_generation|builtin_function|openrouter:[a-z_]+)$/

/** Returns true if the tool may be left out, because a provider would run it. */
export function isHostedChatTool(tool: Json | undefined): boolean {
  return isObject(tool) && typeof tool.type === 'string' && HOSTED_TYPES.test(tool.type) && !connects(tool)
}

/** Fields that ask for a search. */
export const HOSTED_FIELDS: readonly string[] = ['web_search_options', 'search_parameters', 'enable_search']

/** Lists what a body asks its provider to run. No provider of OpenAI's shape has a price for it that is known. */
export function listHostedChatTools(body: JsonObject): HostedToolRequest[] {
  const tools: HostedToolRequest[] = []
  if (Array.isArray(body.tools)) {
    for (let at = 0; at < body.tools.length; at++) {
      if (isHostedChatTool(body.tools[at])) tools.push({ path: `tools[${at}]`, type: undefined })
    }
  }
  for (const name of HOSTED_FIELDS) {
    const value = body[name]
    if (value !== undefined && value !== null && value !== false) tools.push({ path: name, type: undefined })
  }
  return tools
}

/**
 * The functions among the tools; undefined: there are only tools that a provider runs. `fields`: those that a function may
 * have. Absent: others pass on too.
 */
export function parseTools(
  value: Json,
  { strict }: Strictness,
  fields?: ReadonlySet<string>,
): readonly FunctionTool[] | undefined {
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
    assertToolFields(tool, TOOL_FIELDS, `tools[${i}]`)
    const fn = objectAt(tool.function, `tools[${i}].function`)
    toolNameAt(fn.name, `tools[${i}].function.name`)
    if (!strict) continue
    if (fields !== undefined) assertKnownFields(fn, fields, `tools[${i}].function`)
    if (fn.parameters !== undefined && fn.parameters !== null) {
      objectAt(fn.parameters, `tools[${i}].function.parameters`)
    }
    optionalText(fn, 'description', `tools[${i}].function.description`)
    optionalFlag(fn, 'strict', `tools[${i}].function.strict`)
  }
  return tools as unknown as readonly FunctionTool[]
}

const CHOICE_FIELDS: ReadonlySet<string> = new Set(['type', 'function'])
const NAME_FIELDS: ReadonlySet<string> = new Set(['name'])
const TOOL_CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none', 'required'])

export function parseToolChoice(choice: Json, { strict }: Strictness): ToolChoice {
  if (TOOL_CHOICES.has(choice)) return choice as ToolChoice
  if (isObject(choice) && choice.type === 'function') {
    const fn = objectAt(choice.function, 'tool_choice.function')
    textAt(fn.name, 'tool_choice.function.name')
    if (strict) {
      assertKnownFields(choice, CHOICE_FIELDS, 'tool_choice')
      assertKnownFields(fn, NAME_FIELDS, 'tool_choice.function')
    }
    return choice as unknown as ToolChoice
  }
  // Such as allowed_tools.
  if (!strict && isObject(choice)) return choice as unknown as ToolChoice
  throw invalid('tool_choice', 'must be auto, none, required or one function.')
}

const FORMAT_TYPES: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema'])
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'json_schema'])
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(NAMED_SCHEMA.fields?.names)

export function parseResponseFormat(value: Json, { strict }: Strictness): ResponseFormat {
  const format = objectAt(value, 'response_format')
  const type = textAt(format.type, 'response_format.type')
  if (strict && !FORMAT_TYPES.has(type)) {
    throw invalid('response_format.type', 'must be text, json_object or json_schema.')
  }
  if (strict) assertKnownFields(format, FORMAT_FIELDS, 'response_format')
  if (type === 'json_schema') {
    const schema = objectAt(format.json_schema, 'response_format.json_schema')
    textAt(schema.name, 'response_format.json_schema.name')
    if (strict) assertNativeSchema(schema)
    if (schema.schema !== undefined && schema.schema !== null) {
      objectAt(schema.schema, 'response_format.json_schema.schema')
    }
  }
  return format as unknown as ResponseFormat
}

function assertNativeSchema(schema: JsonObject): void {
  assertKnownFields(schema, SCHEMA_FIELDS, 'response_format.json_schema')
  optionalText(schema, 'description', 'response_format.json_schema.description')
  optionalFlag(schema, 'strict', 'response_format.json_schema.strict')
}

/** A string or several. Where it is strict up to four, as OpenAI takes them; some providers take more. */
export function parseStop(stop: Json, { strict }: Strictness): readonly string[] {
  if (typeof stop === 'string') return [stop]
  const list = listAt(stop, 'stop')
  if (strict && list.length > 4) throw invalid('stop', 'must have at most 4 entries.')
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
